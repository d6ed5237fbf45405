// The sandbox of one runtime: natives whose work is unbounded are replaced by guarded ones.
//
// QuickJS asks its interrupt handler once per 10,000 jumps and calls. A native that walks a million
// entries counts as one of them, so a loop of natives would run seconds past its CPU budget, and one
// native on `{ length: 2 ** 53 }` for hours. A guarded native first looks at how much it will walk:
// it refuses what is over a limit, and pays for the rest (`spend`); who pays asks the host whether
// the call is over. If it is, the guard turns in an empty loop until QuickJS itself asks and throws
// what no script can catch.
//
// Costs are nanoseconds per entry or character, rounded up. Everything that guards need is taken
// into constants before any script runs, so that no script can replace it.
//
// A native is installed only if its name stands in the pipeline's text (`mask`); the others give way
// to `hidden`. That keeps a runtime small: each guard takes a quarter of a kilobyte.

(() => {
const { apply, construct, defineProperty, getOwnPropertyDescriptor: descriptor, getPrototypeOf, ownKeys, setPrototypeOf } = Reflect;
const { isArray } = Array;
const { create, freeze } = Object;
const now = () => ask(NOW, 0, 0);
const text = String;
const ITERATOR = Symbol.iterator, SPREADABLE = Symbol.isConcatSpreadable, MATCH = Symbol.match;
// Absent if the pipeline names no bytes.
const Bytes = globalThis.Uint8Array, Buffer = globalThis.ArrayBuffer;
const typedProto = Bytes && getPrototypeOf(Bytes.prototype);
const typedTag = Bytes && descriptor(typedProto, Symbol.toStringTag).get;
const typedLength = Bytes && descriptor(typedProto, 'length').get;
const LIST_MAX = 100000;
const WORK_MAX = 20000000;
const PATTERN_MAX = 10000;
const TEXT_MAX = 8000000;
const NAME_MAX = 1000;
const BITS_MAX = 16384;

// What the host is asked; natives.rs has the same numbers.
const RANDOM = 0, NOW = 1, ROOT = 2, GET_STATE = 3, SET_STATE = 4, SAY = 5;

let fuel = 0;
let refill, ask;

const spin = () => { for (;;); };
const spend = (cost) => {
  if ((fuel -= cost) < 0 && (fuel = refill()) < 0) spin();
};
const refuse = (what, count, most) => {
  throw new RangeError(`${what} of ${count} is too long here: at most ${most}`);
};
// A name that the host is asked for. Converting it is the host's work, which counts too.
const short = (name) => {
  if (typeof name === 'string' && name.length > NAME_MAX) refuse('a name', name.length, NAME_MAX);
  spend(500);
  return name;
};
const isTyped = (x) => Bytes !== undefined && typeof x === 'object' && x !== null && apply(typedTag, x, []) !== undefined;

// How many entries a list function would walk. Getters are refused: they could tell two lengths.
const size = (x) => {
  if (typeof x === 'string' || isArray(x)) return x.length;
  if (x === null || (typeof x !== 'object' && typeof x !== 'function')) return 0;
  if (isTyped(x)) return apply(typedLength, x, []);
  const own = descriptor(x, 'length');
  if (own === undefined ? 'length' in x : typeof own.value !== 'number') {
    throw new TypeError('list functions take lists, and objects whose length is a plain number');
  }
  return own === undefined ? 0 : own.value;
};
const charge = (count, cost) => {
  if (count > LIST_MAX) refuse('a list', count, LIST_MAX);
  spend(count * cost + 50);
};
const chargeText = (length, cost) => {
  if (length * cost > WORK_MAX) refuse('a text', length, WORK_MAX / cost);
  spend(length * cost + 30);
};
// A native that threw may have worked long before: ask at once.
const run = (native, self, given) => {
  try {
    return apply(native, self, given);
  } catch (error) {
    spend(1e9);
    throw error;
  }
};
const subject = (self) => {
  if (typeof self === 'string') return self;
  if (self === undefined || self === null) throw new TypeError('a text function needs a text');
  return text(self);
};

// ---- makers: each takes the native and its cost, and gives what stands in its place

const list = (native, cost) => function (...given) {
  charge(size(this), cost);
  return run(native, this, given);
};

const splice = (native, cost) => function (...given) {
  charge(size(this) + given.length, cost);
  return run(native, this, given);
};

const parts = (x) => {
  if (isArray(x)) return x.length;
  const isObject = x !== null && (typeof x === 'object' || typeof x === 'function');
  return isObject && SPREADABLE in x ? size(x) : 1;
};
const concat = (native, cost) => function (...given) {
  let count = parts(this);
  for (let i = 0; i < given.length; i++) count += parts(given[i]);
  charge(count, cost);
  return run(native, this, given);
};

const texts = (native, cost) => function (...given) {
  const self = subject(this);
  chargeText(self.length, cost);
  return run(native, self, given);
};
// QuickJS searches at every position: the product of both lengths, at worst.
const search = (native, cost) => function (...given) {
  const self = subject(this);
  let wanted = given[0];
  const isPattern = wanted !== null && typeof wanted === 'object' && wanted[MATCH] !== undefined;
  if (!isPattern) {
    if (typeof wanted !== 'string' && given.length > 0 && wanted !== undefined) given[0] = wanted = text(wanted);
    const length = typeof wanted === 'string' ? wanted.length : 1;
    if (length > 8 && self.length * length > WORK_MAX) {
      throw new RangeError(`searching ${self.length} characters for ${length} would take too long`);
    }
  }
  spend(self.length * cost + 30);
  return run(native, self, given);
};
const repeat = (native) => function (count) {
  const self = subject(this);
  count = +count;
  if (self.length * count > TEXT_MAX) refuse('a text', self.length * count, TEXT_MAX);
  if (self.length === 0 && count >= 0 && count < Infinity) return '';
  spend(self.length * count);
  return run(native, self, [count]);
};
const pad = (native) => function (count, filler = ' ') {
  const self = subject(this);
  count = +count;
  if (count > TEXT_MAX) refuse('a text', count, TEXT_MAX);
  spend(count);
  return run(native, self, [count, text(filler)]);
};
// Up to 10,000 steps of the matcher go unasked; from there it asks by itself.
const exec = (native) => function (self) {
  self = text(self);
  spend(100 + (self.length < 10000 ? self.length : 10000) * 3);
  return run(native, this, [self]);
};
// A text as a key is hashed anew each time.
const keys = (native) => function (key, entry) {
  if (typeof key === 'string' && key.length > 100) spend(key.length);
  return apply(native, this, [key, entry]);
};
const first = (native, cost) => function (...given) {
  if (given.length > 0) {
    given[0] = text(given[0]);
    chargeText(given[0].length, cost);
  }
  return run(native, this, given);
};
const parse = (native, cost) => function (source, reviver) {
  source = text(source);
  chargeText(source.length, cost);
  return run(native, this, reviver === undefined ? [source] : [source, reviver]);
};
// A replacer is called for every entry, and calls are counted.
const same = (name, entry) => entry;
const stringify = (native) => function (entry, replacer, space) {
  let each = same;
  if (typeof replacer === 'function') {
    each = replacer;
  } else if (isArray(replacer)) {
    const names = create(null);
    charge(size(replacer), 50);
    for (let i = 0; i < replacer.length; i++) names[text(replacer[i])] = true;
    each = function (name, entry) {
      return name === '' || isArray(this) || names[name] ? entry : undefined;
    };
  }
  spend(1000);
  const out = run(native, this, [entry, each, space]);
  if (typeof out === 'string') spend(out.length);
  return out;
};

// How much there is to do shows afterwards only: ask each time.
const own = (native, cost) => function (...given) {
  for (let i = 0; i < given.length; i++) {
    const x = given[i];
    if (typeof x === 'string' || isArray(x) || isTyped(x)) charge(size(x), cost);
  }
  spend(1e9);
  return run(native, this, given);
};

const always = (native) => function (...given) {
  spend(1e9);
  return run(native, this, given);
};

// ---- constructors: a function in front, with the same prototype and statics

const front = (native, name, make, isCallable) => {
  const shown = function (...given) {
    if (new.target === undefined && !isCallable) throw new TypeError(`${name} needs new`);
    return make(given, new.target === undefined ? shown : new.target, new.target === undefined);
  };
  setPrototypeOf(shown, getPrototypeOf(native));
  for (const key of ownKeys(native)) {
    if (key !== 'length' && key !== 'arguments' && key !== 'caller') {
      defineProperty(shown, key, descriptor(native, key));
    }
  }
  defineProperty(native.prototype, 'constructor', { value: shown, writable: true, enumerable: false, configurable: true });
  return shown;
};
const date = (native, cost, name) => {
  const shown = front(native, name, (given, target, isCall) => {
    if (isCall) return text(construct(native, [now()], shown));
    if (typeof given[0] === 'string' && given[0].length > 100) given[0] = NaN;
    return construct(native, given.length === 0 ? [now()] : given, target);
  }, true);
  shown.now = () => now();
  return shown;
};
const random = () => () => ask(RANDOM, 0, 0);

// ---- what the host needs

const RealDate = Date, RealMap = Map, RealSet = Set, RealPromise = Promise, RealRegExp = RegExp;
const { getTime, toISOString } = Date.prototype;
const eachOfMap = Map.prototype.forEach, eachOfSet = Set.prototype.forEach;
const RealProxy = Proxy;
const Boxes = [Number, String, Boolean, BigInt, Symbol];
const valueOf = [Number.prototype.valueOf, String.prototype.valueOf, Boolean.prototype.valueOf,
  BigInt.prototype.valueOf, Symbol.prototype.valueOf];

// What stands for an object whose prototype is not the plain one: `undefined` for an instance of a
// class, `[x]` for what is taken in its place, a text for what cannot be data.
const unwrap = (x) => {
  try {
    if (x instanceof RealDate) {
      const ms = apply(getTime, x, []);
      return [ms === ms ? apply(toISOString, x, []) : null];
    }
    if (x instanceof RealMap) {
      const out = create(null);
      apply(eachOfMap, x, [(entry, key) => { out[text(key)] = entry; }]);
      return [out];
    }
    if (x instanceof RealSet) {
      const out = [];
      apply(eachOfSet, x, [(entry) => { out[out.length] = entry; }]);
      return [out];
    }
    if (Bytes !== undefined && x instanceof Buffer) x = new Bytes(x);
    if (isTyped(x)) {
      const count = apply(typedLength, x, []);
      charge(count, 20);
      const out = [];
      for (let i = 0; i < count; i++) out[i] = x[i];
      return [out];
    }
    if (x instanceof RealRegExp) return [text(x)];
    if (x instanceof RealPromise) return 'a promise';
    for (let i = 0; i < Boxes.length; i++) if (x instanceof Boxes[i]) return [apply(valueOf[i], x, [])];
  } catch (error) {
    return undefined;
  }
  return undefined;
};
const fit = (big) => (big >= -(2n ** 63n) && big < 2n ** 63n ? 1 : big >= 0n && big < 2n ** 64n ? 2 : 0);
const { toWellFormed, matchAll } = String.prototype;
const { add, has } = Set.prototype;
const wellFormed = (x) => apply(toWellFormed, x, []);
const lazy = (kind) => new RealProxy({}, {
  get: (target, name) => (typeof name === 'string' && name !== 'length' ? ask(ROOT, kind, short(name)) : undefined),
  has: (target, name) => typeof name === 'string' && ask(ROOT, kind, short(name)) !== undefined,
  set: () => false,
  defineProperty: () => false,
  setPrototypeOf: () => false,
});

const hidden = function () {
  throw new TypeError('this function is there only if its name stands in the text of the pipeline');
};
const codeFromText = function () {
  throw new TypeError('code from text is not possible here');
};

// Freezes all that can be reached, so that pipelines may share a runtime for their expressions.
const freezeAll = () => {
  delete Error.stackTraceLimit;
  const seen = new RealSet();
  const rest = [globalThis];
  const visit = (x) => {
    if ((typeof x === 'object' && x !== null) || typeof x === 'function') rest[rest.length] = x;
  };
  // What only syntax reaches.
  visit(getPrototypeOf(function* () {}));
  visit(getPrototypeOf(async function* () {}));
  visit(getPrototypeOf(async function () {}));
  for (const x of [[], '', new RealMap(), new RealSet()]) visit(getPrototypeOf(x[ITERATOR]()));
  visit(getPrototypeOf(apply(matchAll, '', [/x/g])));
  visit(getPrototypeOf(async function* () {}.prototype));
  for (let i = 0; i < rest.length; i++) {
    const x = rest[i];
    if (apply(has, seen, [x])) continue;
    apply(add, seen, [x]);
    visit(getPrototypeOf(x));
    for (const key of ownKeys(x)) {
      const own = descriptor(x, key);
      visit(own.value);
      visit(own.get);
      visit(own.set);
    }
    freeze(x);
  }
};

function install(mask, rare, mill, refillNative, askNative) {
  refill = refillNative;
  ask = askNative;
  const more = rare === undefined ? {} : rare({ apply, construct, defineProperty, isArray, text, ITERATOR, MATCH, typedTag, PATTERN_MAX, spend, refuse, size, charge, chargeText, run, subject, front });
  const global = globalThis;
  const put = (place, owner, name, make, cost) => {
    const isNamed = mask.charCodeAt(place) === 49;
    owner[name] = isNamed ? make(owner[name], cost, name) : hidden;
  };
  const kinds = [function () {}, async function () {}, function* () {}, async function* () {}];
  for (let i = 0; i < kinds.length; i++) {
    defineProperty(getPrototypeOf(kinds[i]), 'constructor',
      { value: codeFromText, writable: false, enumerable: false, configurable: false });
  }
  defineProperty(codeFromText, 'prototype', { value: getPrototypeOf(hidden), writable: false });
  global.Function = codeFromText;
  const gone = ['eval', 'Proxy', 'SharedArrayBuffer', 'Atomics', 'Iterator', 'WeakRef', 'FinalizationRegistry'];
  for (let i = 0; i < gone.length; i++) delete global[gone[i]];
  const steps = getPrototypeOf(getPrototypeOf([][ITERATOR]()));
  for (const key of ownKeys(steps)) if (key !== ITERATOR) delete steps[key];
  delete Error.prepareStackTrace;
  delete Array.fromAsync;
  delete JSON.rawJSON;
  delete RegExp.prototype.compile;
  // HTML of another age: each makes a text of any length.
  const tags = ['anchor', 'big', 'blink', 'bold', 'fixed', 'fontcolor', 'fontsize', 'italics', 'link', 'small',
    'strike', 'sub', 'sup'];
  for (let i = 0; i < tags.length; i++) delete String.prototype[tags[i]];
  /*GUARDS*/
  const constant = (name, entry) => {
    defineProperty(global, name, { value: entry, writable: false, enumerable: false, configurable: false });
  };
  const say = (level) => (...given) => { if (ask(SAY, level, given)) spin(); };
  constant('console', freeze({ debug: say(0), log: say(1), info: say(1), warn: say(2), error: say(3) }));
  constant('state', freeze({ get: (name) => ask(GET_STATE, short(name), 0), set: (name, entry) => ask(SET_STATE, short(name), entry) }));
  if (mill !== undefined) constant('mill', mill(now));
  return [unwrap, fit, wellFormed, lazy, freezeAll];
}
return install;
})()
