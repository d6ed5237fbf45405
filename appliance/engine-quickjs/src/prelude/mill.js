// The library of pipelines: `mill`. Numbers, times, bytes and checksums that plants need daily.
// Each function is documented in docs/operate/scripts.md; the two are kept together by a test.

(() => {
const { freeze } = Object;
const { isFinite: finite } = Number;
const { floor, min, max, pow, sign, abs } = Math;
const text = String, RealDate = Date, Big = BigInt, real = Number;
const { toISOString } = Date.prototype;
const { split, toLowerCase, indexOf, codePointAt } = String.prototype;
// Absent if the pipeline names none of the functions that read numbers of bytes.
const Buffer = globalThis.ArrayBuffer, View = globalThis.DataView;
const setUint8 = View && View.prototype.setUint8;
const { push } = Array.prototype;
const numberToString = Number.prototype.toString, bigToString = BigInt.prototype.toString;
const { apply } = Reflect;
const BYTES_MAX = 100000;
const DIGITS = '0123456789abcdef';

const listOf = (bytes) => {
  if (typeof bytes === 'string') return utf8(bytes);
  if (bytes === null || typeof bytes !== 'object' || !(bytes.length <= BYTES_MAX)) {
    throw new TypeError(`a list of at most ${BYTES_MAX} bytes, or a text, is needed`);
  }
  return bytes;
};
const utf8 = (source) => {
  if (source.length > BYTES_MAX) throw new RangeError(`at most ${BYTES_MAX} characters`);
  const out = [];
  for (const letter of source) {
    const code = apply(codePointAt, letter, [0]);
    if (code < 0x80) apply(push, out, [code]);
    else if (code < 0x800) apply(push, out, [0xc0 | code >> 6, 0x80 | code & 63]);
    else if (code < 0x10000) apply(push, out, [0xe0 | code >> 12, 0x80 | code >> 6 & 63, 0x80 | code & 63]);
    else apply(push, out, [0xf0 | code >> 18, 0x80 | code >> 12 & 63, 0x80 | code >> 6 & 63, 0x80 | code & 63]);
  }
  return out;
};
const fromUtf8 = (bytes) => {
  bytes = listOf(bytes);
  let out = '';
  for (let i = 0; i < bytes.length;) {
    const lead = bytes[i++];
    let more = lead < 0x80 ? 0 : lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : -1;
    let code = more <= 0 ? lead : lead & (0x3f >> more);
    const needed = more;
    while (more > 0 && (bytes[i] & 0xc0) === 0x80) { code = code << 6 | bytes[i++] & 63; more--; }
    const least = [0, 0x80, 0x800, 0x10000][needed] ?? 0;
    const isGood = more === 0 && code >= least && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    out += isGood ? fromCodePoint(code) : '\ufffd';
  }
  return out;
};
const fromCodePoint = String.fromCodePoint;

const numberAt = (bytes, at, size, read) => {
  const view = new View(new Buffer(size));
  for (let i = 0; i < size; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) throw new RangeError(`no byte at ${at + i}`);
    apply(setUint8, view, [i, byte]);
  }
  return read(view);
};
const unnamed = () => { throw new TypeError('this function is there only if its name stands in the text of the pipeline'); };
const reader = (size, name) => {
  if (View === undefined) return unnamed;
  const read = View.prototype[name];
  return (bytes, at = 0, isLittle = false) => numberAt(bytes, at, size, (view) => apply(read, view, [0, isLittle]));
};

let crcTable;
const table32 = () => {
  const table = [];
  for (let n = 0; n < 256; n++) {
    let code = n;
    for (let k = 0; k < 8; k++) code = code & 1 ? 0xedb88320 ^ code >>> 1 : code >>> 1;
    table[n] = code >>> 0;
  }
  return table;
};

const build = (now) => {
const mill = freeze({
  clamp: (x, low, high) => min(max(x, low), high),
  scale: (x, inLow, inHigh, outLow = 0, outHigh = 1) => outLow + (x - inLow) * (outHigh - outLow) / (inHigh - inLow),
  round: (x, digits = 0) => {
    if (!finite(x)) return x;
    // Through the text, so that 1.005 to two digits is 1.01 as written, not 1.00 as stored.
    const [mantissa, exponent = '0'] = apply(split, text(abs(x)), ['e']);
    const [head, tail = '0'] = apply(split, text(floor(+`${mantissa}e${+exponent + digits}` + 0.5)), ['e']);
    return sign(x) * +`${head}e${+tail - digits}`;
  },
  isoTime: (time) => {
    const at = new RealDate(time === undefined ? now() : typeof time === 'bigint' ? real(time) : time);
    return apply(toISOString, at, []);
  },
  hex: (x, width = 0) => {
    if (typeof x === 'number' || typeof x === 'bigint') {
      if (x < 0) throw new RangeError('a number below 0 has no hex form here: take x >>> 0');
      let out = apply(typeof x === 'bigint' ? bigToString : numberToString, x, [16]);
      while (out.length < width && out.length < 64) out = '0' + out;
      return out;
    }
    const bytes = listOf(x);
    let out = '';
    for (let i = 0; i < bytes.length; i++) out += DIGITS[bytes[i] >> 4 & 15] + DIGITS[bytes[i] & 15];
    return out;
  },
  fromHex: (source) => {
    const out = [];
    let high = -1;
    for (const letter of apply(toLowerCase, text(source), [])) {
      const digit = apply(indexOf, DIGITS, [letter]);
      if (digit < 0) {
        if (high < 0 && (letter === ' ' || letter === ':' || letter === '-')) continue;
        throw new RangeError(`not hex: ${letter}`);
      }
      if (high < 0) high = digit;
      else { apply(push, out, [high << 4 | digit]); high = -1; }
    }
    if (high >= 0) throw new RangeError('an odd number of hex digits');
    return out;
  },
  bit: (x, place) => (typeof x === 'bigint' ? (x >> Big(place) & 1n) === 1n : floor(x / pow(2, place)) % 2 !== 0),
  bits: (x, count = 16) => {
    const out = [];
    for (let i = 0; i < min(count, 64); i++) apply(push, out, [mill.bit(x, i)]);
    return out;
  },
  bytes: (source) => utf8(text(source)),
  text: fromUtf8,
  crc16: (source) => {
    const bytes = listOf(source);
    let crc = 0xffff;
    for (let i = 0; i < bytes.length; i++) {
      crc ^= bytes[i] & 0xff;
      for (let k = 0; k < 8; k++) crc = crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1;
    }
    return crc;
  },
  crc32: (source) => {
    const bytes = listOf(source);
    crcTable ??= table32();
    let crc = 0xffffffff;
    for (let i = 0; i < bytes.length; i++) crc = crcTable[(crc ^ bytes[i]) & 0xff] ^ crc >>> 8;
    return (crc ^ 0xffffffff) >>> 0;
  },
  int16: reader(2, 'getInt16'),
  uint16: reader(2, 'getUint16'),
  int32: reader(4, 'getInt32'),
  uint32: reader(4, 'getUint32'),
  int64: reader(8, 'getBigInt64'),
  uint64: reader(8, 'getBigUint64'),
  float32: reader(4, 'getFloat32'),
  float64: reader(8, 'getFloat64'),
});
return mill;
};
return build;
})()
