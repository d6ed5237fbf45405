// Guards that few pipelines need; loaded only for those. They build on guards.js, whose head tells how
// guards work.

(() => {
const bigValueOf = BigInt.prototype.valueOf;
const BITS_MAX = 16384;

const rare = ({ apply, construct, defineProperty, isArray, text, ITERATOR, MATCH, typedTag, PATTERN_MAX, spend, refuse, size, charge, chargeText, run, subject, front }) => {
// `indexOf` and its like compare texts character by character.
const find = (native, cost) => function (...given) {
  const count = size(this);
  charge(count, cost);
  const wanted = given[0];
  if (typeof wanted === 'string' && wanted.length > 64) chargeText(count * wanted.length, 0.05);
  return run(native, this, given);
};

const byText = (a, b) => {
  a = text(a);
  b = text(b);
  spend((a.length < b.length ? a.length : b.length) / 4);
  return a < b ? -1 : a > b ? 1 : 0;
};
const sort = (native, cost) => function (order) {
  const count = size(this);
  charge(count, cost);
  if (order === undefined) {
    let characters = 0;
    for (let i = 0; i < count && count <= 2000; i++) {
      const entry = this[i];
      if (typeof entry === 'string') characters += entry.length;
    }
    if (count > 2000 || characters > 200000) order = byText;
  }
  return run(native, this, [order]);
};

// Without recursion in C: a list of lists of lists may be exponentially long.
const flatten = (out, entries, depth) => {
  const count = size(entries);
  charge(count, 20);
  for (let i = 0; i < count; i++) {
    if (!(i in entries)) continue;
    const entry = entries[i];
    if (depth > 0 && isArray(entry)) flatten(out, entry, depth - 1);
    else defineProperty(out, out.length, { value: entry, writable: true, enumerable: true, configurable: true });
  }
  return out;
};
const flat = () => function (depth = 1) { return flatten([], this, +depth); };
const flatMap = () => function (each, self) {
  const count = size(this);
  charge(count, 20);
  const out = [];
  for (let i = 0; i < count; i++) {
    if (!(i in this)) continue;
    const entry = apply(each, self, [this[i], i, this]);
    flatten(out, [entry], 1);
  }
  return out;
};

const gather = (from, each, self) => {
  const out = [];
  if (from === undefined || from === null) throw new TypeError('a list or an iterable is needed');
  if (from[ITERATOR] !== undefined && from[ITERATOR] !== null) {
    let i = 0;
    for (const entry of from) {
      out[i] = each === undefined ? entry : apply(each, self, [entry, i]);
      i++;
    }
  } else {
    const count = size(from);
    charge(count, 100);
    for (let i = 0; i < count; i++) out[i] = each === undefined ? from[i] : apply(each, self, [from[i], i]);
  }
  return out;
};
const from = () => function (source, each, self) { return gather(source, each, self); };
const typedFrom = () => function (source, each, self) { return new this(gather(source, each, self)); };
const gathered = (native) => function (source, ...given) {
  return run(native, this, [gather(source), ...given]);
};
const fromEntries = () => function (source) {
  const out = {};
  for (const entry of source) {
    defineProperty(out, entry[0], { value: entry[1], writable: true, enumerable: true, configurable: true });
  }
  return out;
};

// Both texts are walked.
const compare = (native, cost) => function (other, ...given) {
  const self = subject(this);
  other = text(other);
  chargeText(self.length + other.length, cost);
  return run(native, self, [other, ...given]);
};
const pattern = (native) => function (wanted) {
  const self = subject(this);
  const isPattern = wanted !== null && typeof wanted === 'object' && wanted[MATCH] !== undefined;
  if (!isPattern && wanted !== undefined) {
    wanted = text(wanted);
    if (wanted.length > PATTERN_MAX) refuse('a pattern', wanted.length, PATTERN_MAX);
  }
  spend(self.length);
  return run(native, self, [wanted]);
};
const raw = (native) => function (strings, ...given) {
  charge(size(strings.raw) + given.length, 100);
  return run(native, this, [strings, ...given]);
};

const bits = (native) => function (...given) {
  const rest = apply(bigValueOf, this, []) >> 16384n;
  if (rest !== 0n && rest !== -1n) throw new RangeError(`an integer of more than ${BITS_MAX} bits is too long here`);
  spend(1e9);
  return run(native, this, given);
};
const wrap = (native) => function (count, big) {
  count = +count;
  if (count > BITS_MAX) refuse('an integer', count, BITS_MAX);
  return run(native, this, [count, big]);
};

const keyed = (native, cost, name) => {
  const put = native.prototype.set ?? native.prototype.add;
  const isPair = native.prototype.set !== undefined;
  return front(native, name, (given, target) => {
    const out = construct(native, [], target);
    const source = given[0];
    if (source !== undefined && source !== null) {
      for (const entry of source) apply(put, out, isPair ? [entry[0], entry[1]] : [entry]);
    }
    return out;
  });
};
const typed = (native, cost, name) => front(native, name, (given, target) => {
  let source = given[0];
  if (typeof source === 'number') {
    spend(source);
  } else if (source !== null && typeof source === 'object' && apply(typedTag, source, []) === undefined) {
    if (isArray(source) || (source[ITERATOR] === undefined && 'length' in source)) charge(size(source), 60);
    else if (source[ITERATOR] !== undefined) given[0] = gather(source);
  } else {
    spend(1e9);
  }
  try {
    return construct(native, given, target);
  } catch (error) {
    spend(1e9);
    throw error;
  }
});
const buffer = (native, cost, name) => front(native, name, (given, target) => {
  spend(1e9);
  return construct(native, given, target);
});
const regexp = (native, cost, name) => front(native, name, (given, target, isCall) => {
  const source = given[0];
  if (isCall && given.length === 1 && source instanceof native) return source;
  if (source !== undefined && !(source instanceof native)) {
    given[0] = text(source);
    if (given[0].length > PATTERN_MAX) refuse('a pattern', given[0].length, PATTERN_MAX);
  }
  return construct(native, given, target);
}, true);
const bigint = (native, cost, name) => {
  const shown = front(native, name, (given, target, isCall) => {
    if (!isCall) throw new TypeError('BigInt is not a constructor');
    const source = given[0];
    if (typeof source === 'string' && source.length > 20000) refuse('a text', source.length, 20000);
    return native(source);
  }, true);
  return shown;
};
const aggregate = (native, cost, name) => front(native, name, (given, target) => {
  given[0] = gather(given[0]);
  return construct(native, given, target);
}, true);

return {
  find, sort, flat, flatMap, from, typedFrom, gathered, fromEntries, compare, pattern, raw, bits, wrap, keyed, typed,
  buffer, aggregate, regexp, bigint,
};
};
return rare;
})()
