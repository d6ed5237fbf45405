// One check a line: true with guards as without.
[1, 2, 3].join('-') === '1-2-3' && String([1, [2, 3]]) === '1,2,3' && `${[1]}` === '1'
[3, 1, 2].sort().join() === '1,2,3' && [10, 9, 1].sort().join() === '1,10,9' && [10, 9, 1].sort((a, b) => a - b).join() === '1,9,10'
[10, 9, 1].toSorted().join() === '1,10,9' && [1, 2].toReversed().join() === '2,1' && [1, 2].with(0, 5).join() === '5,2'
[1, [2, [3, [4]]]].flat().length === 3 && [1, [2, [3, [4]]]].flat(Infinity).join() === '1,2,3,4' && [1, 2].flatMap(x => [x, [x]]).length === 4
[1, 2, 3, 4].slice(1, -1).join() === '2,3' && [1, 2, 3].splice(1, 1).join() === '2' && [1, 2, 3].toSpliced(0, 2, 9).join() === '9,3'
[1, 2].concat(3, [4], [[5]]).length === 5 && [1, 2, 3].fill(0, 1).join() === '1,0,0' && [1, 2, 3, 4].copyWithin(0, 2).join() === '3,4,3,4'
[1, 2, 1].indexOf(1) === 0 && [1, 2, 1].lastIndexOf(1) === 2 && [NaN].includes(NaN) && [1].indexOf() === -1
(() => { const a = [1, 2]; a.unshift(0); a.push(3); return a.shift() === 0 && a.join() === '1,2,3' && a.reverse().join() === '3,2,1' })()
Array.from('abc').join() === 'a,b,c' && Array.from({ length: 2 }, (_, i) => i).join() === '0,1' && Array.from(new Set([1, 1, 2])).length === 2
Array.prototype.join.call({ length: 2, 0: 'a', 1: 'b' }, '') === 'ab' && Array.prototype.slice.call('abc').length === 3
'a,b'.split(',').length === 2 && 'abc'.split('').join('|') === 'a|b|c' && 'a1b2'.split(/\d/).length === 3 && 'a b c'.split(' ', 2).length === 2
'aXbX'.replace('X', '-') === 'a-bX' && 'aXbX'.replaceAll('X', '$&$&') === 'aXXbXX' && 'a1'.replace(/\d/, d => d * 2) === 'a2' && 'x'.replace('x', () => 'y') === 'y'
'ab'.repeat(2) === 'abab' && ''.repeat(1e9) === '' && '5'.padStart(3, '0') === '005' && '5'.padEnd(3) === '5  '
'Ab'.toUpperCase() === 'AB' && 'Ab'.toLowerCase() === 'ab' && ' a '.trim() === 'a' && 'e\u0301'.normalize() === '\u00e9' && 'a'.localeCompare('b') < 0
'abcabc'.indexOf('c', 3) === 5 && 'abc'.includes('b') && 'abc'.startsWith('b', 1) && 'abc'.endsWith('c') && 'abca'.lastIndexOf('a') === 3 && 'undefined'.indexOf() === 0
'abc'.slice(-2) === 'bc' && 'abc'.substring(2, 0) === 'ab' && 'abc'.substr(1, 1) === 'b' && 'a'.concat('b', 1) === 'ab1'
'a1b22'.match(/\d+/g).join() === '1,22' && [...'a1b2'.matchAll(/\d/g)].length === 2 && 'abc'.search('c') === 2 && 'x.y'.match('.')[0] === 'x'
/(\d)(?<name>x)/.exec('1x').groups.name === 'x' && /a/.test('cat') && new RegExp('a+', 'i').test('AA') && RegExp('b').source === 'b' && /a/g[Symbol.replace]('aa', 'b') === 'bb'
new RegExp(/x/g).flags === 'g' && /x/ instanceof RegExp && RegExp.escape('a.b') === '\\x61\\.b'
JSON.stringify({ a: [1, undefined, () => 1], b: undefined, c: new Date(0), d: 'x' }) === '{"a":[1,null,null],"c":"1970-01-01T00:00:00.000Z","d":"x"}'
JSON.stringify({ a: 1, b: { a: 2, c: 3 } }, ['a', 'b']) === '{"a":1,"b":{"a":2}}' && JSON.stringify([1], null, 2) === '[\n  1\n]' && JSON.stringify({ a: 1, b: 2 }, (k, v) => k === 'a' ? undefined : v) === '{"b":2}'
JSON.stringify(undefined) === undefined && JSON.stringify('x') === '"x"' && JSON.parse('{"a":[1]}').a[0] === 1 && JSON.parse('[1,2]', (k, v) => k === '0' ? 9 : v)[0] === 9
Object.keys({ a: 1 }).join() === 'a' && Object.values('ab').join() === 'a,b' && Object.entries({ a: 1 })[0][1] === 1 && Object.assign({}, { a: 1 }, null).a === 1
Object.fromEntries([['a', 1], ['__proto__', 2]]).a === 1 && Object.isFrozen(Object.freeze([1])) && Object.groupBy([1, 2], x => x % 2 ? 'odd' : 'even').odd[0] === 1
new Map([[1, 2]]).get(1) === 2 && new Map() instanceof Map && new Map([[1, 2]]).constructor === Map && new (class extends Map {})([[1, 2]]).size === 1 && Map.groupBy([1], x => x).size === 1
new Set('aab').size === 2 && new Set([1]).union(new Set([2])).size === 2 && new WeakMap([[{}, 1]]) instanceof WeakMap && new Set(null).size === 0
(() => { try { Map(); return false } catch (e) { return e instanceof TypeError } })()
new Uint8Array([1, 2]).join() === '1,2' && new Uint8Array(3).length === 3 && Uint8Array.from([1, 2], x => x * 2)[1] === 4 && new Float64Array([2, 1]).sort()[0] === 1 && new Uint8Array(new ArrayBuffer(8), 2, 3).length === 3
new Uint8Array(new Set([5]))[0] === 5 && Uint8Array.BYTES_PER_ELEMENT === 1 && new Uint16Array({ length: 2, 0: 7 })[0] === 7 && new Uint8Array([1, 2, 3]).subarray(1).length === 2
new DataView(new Uint8Array([0, 1]).buffer).getUint16(0) === 1 && new ArrayBuffer(4).slice(2).byteLength === 2 && ArrayBuffer.isView(new Uint8Array())
BigInt(5) === 5n && BigInt('0x10') === 16n && (255n).toString(16) === 'ff' && BigInt.asUintN(8, 257n) === 1n && typeof BigInt(1) === 'bigint' && `${5n}` === '5'
parseInt('12px') === 12 && parseInt('ff', 16) === 255 && parseFloat('1.5e3x') === 1500 && ['1', '2'].map(Number).join() === '1,2' && encodeURIComponent('ä b') === '%C3%A4%20b' && decodeURIComponent('%20') === ' '
String.raw`a\n${1}` === 'a\\n1' && [..."ab"].length === 2 && Math.max(...[1, 2]) === 2 && [].concat([1]).at(-1) === 1
(() => { const order = []; [3, 1, 2].forEach(x => order.push(x)); return order.reduce((a, b) => a + b) === 6 && order.some(x => x > 2) && order.find(x => x < 3) === 1 })()
(() => { function* g() { yield 1; yield 2 } return [...g()].length === 2 && Array.from(g()).length === 2 && new Set(g()).size === 2 })()
