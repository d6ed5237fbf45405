// One check a line.
mill.clamp(5, 0, 3) === 3 && mill.clamp(-1, 0, 3) === 0 && mill.clamp(2, 0, 3) === 2
mill.scale(12, 4, 20, 0, 100) === 50 && mill.scale(4, 4, 20) === 0 && mill.scale(20, 4, 20, 10, -10) === -10
mill.round(1.005, 2) === 1.01 && mill.round(-1.5) === -2 && mill.round(1234.5, -2) === 1200 && mill.round(2.5) === 3 && mill.round(0.1 + 0.2, 3) === 0.3 && mill.round(1e21) === 1e21 && Number.isNaN(mill.round(NaN))
mill.round(1.23e-7, 8) === 1.2e-7 && mill.round(12345678.5) === 12345679
mill.isoTime(0) === '1970-01-01T00:00:00.000Z' && mill.isoTime() === '2026-11-30T12:00:00.123Z' && mill.isoTime('2026-01-02T03:04:05+01:00') === '2026-01-02T02:04:05.000Z' && mill.isoTime(1000n) === '1970-01-01T00:00:01.000Z'
mill.hex(255) === 'ff' && mill.hex(10, 4) === '000a' && mill.hex([1, 255]) === '01ff' && mill.hex('AB') === '4142' && mill.hex(2n ** 63n) === '8000000000000000'
mill.fromHex('01 ff:0A').join() === '1,255,10' && mill.fromHex('').length === 0
(() => { try { mill.fromHex('0'); return false } catch (e) { return e.message.includes('odd') } })()
mill.bit(5, 0) && !mill.bit(5, 1) && mill.bit(5, 2) && mill.bit(2 ** 40, 40) && mill.bit(1n << 63n, 63) && mill.bits(5, 4).join() === 'true,false,true,false' && mill.bits(0).length === 16
mill.bytes('aä€😀').join() === '97,195,164,226,130,172,240,159,152,128' && mill.text(mill.bytes('aä€😀')) === 'aä€😀' && mill.text([0xff, 0x41]) === '\ufffdA' && mill.text(new Uint8Array([0x41])) === 'A'
mill.crc16([1, 3, 0, 0, 0, 10]) === 0xcdc5 && mill.crc16('123456789') === 0x4b37
mill.crc32('123456789') === 0xcbf43926 && mill.crc32('') === 0
mill.int16([0xff, 0xfe]) === -2 && mill.uint16([1, 2]) === 258 && mill.uint16([1, 2], 0, true) === 513 && mill.int32([0, 255, 255, 255, 255], 1) === -1 && mill.uint32([0, 0, 1, 0]) === 256
mill.float32([0x42, 0xf6, 0xe9, 0x79]) === Math.fround(123.456) && mill.float64([0x3f, 0xf0, 0, 0, 0, 0, 0, 0]) === 1 && mill.int64([255, 255, 255, 255, 255, 255, 255, 255]) === -1n && mill.uint64([128, 0, 0, 0, 0, 0, 0, 0]) === 2n ** 63n
