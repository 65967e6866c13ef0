import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WireError } from '../../src/wire/errors.ts';
import {
  encodeFrame,
  FramePipe,
  FrameReader,
  frameLimit,
  MAX_FRAME_BYTES,
  MAX_FRAME_DEPTH,
  parseFrame,
} from '../../src/wire/frames.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import { SLOW } from '../groups.ts';

const CAP = 1 << 20;

function readAll(reader: FrameReader): string[] {
  const texts: string[] = [];
  for (let text = reader.next(); text !== null; text = reader.next()) texts.push(text);
  return texts;
}

describe('frames on a pipe', () => {
  it('a frame is its length in four bytes, big-endian, then its UTF-8 text', () => {
    expect([...encodeFrame('{"ä":1}', CAP)]).toEqual([0, 0, 0, 8, 0x7b, 0x22, 0xc3, 0xa4, 0x22, 0x3a, 0x31, 0x7d]);
  });

  it('the reader returns the same texts however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.json(), { minLength: 1 }), fc.array(fc.integer({ min: 1, max: 9 })), (texts, cuts) => {
        const stream = Buffer.concat(texts.map((text) => encodeFrame(text, CAP)));
        const reader = new FrameReader(CAP);
        const read: string[] = [];
        let at = 0;
        for (const size of [...cuts, stream.length]) {
          reader.push(stream.subarray(at, at + size));
          at += size;
          read.push(...readAll(reader));
        }
        expect(read).toEqual(texts);
        expect(reader.partial).toBe(false);
      }),
    );
  });

  it('a length of zero, a length above the cap and bytes that are not UTF-8 are violations', () => {
    for (const bytes of [
      [0, 0, 0, 0],
      [0, 0x10, 0, 1],
      [0xff, 0xff, 0xff, 0xff],
      [0, 0, 0, 2, 0xc3, 0x28],
    ]) {
      const reader = new FrameReader(CAP);
      reader.push(Uint8Array.from(bytes));
      expect(() => reader.next(), bytes.join()).toThrow(WireError);
    }
  });

  it('a cap holds exactly: at the cap a frame is read, one byte more is not', () => {
    expect(encodeFrame('x'.repeat(10), 10)).toHaveLength(14);
    expect(() => encodeFrame('x'.repeat(11), 10)).toThrow(WireError);
    const reader = new FrameReader(10);
    reader.push(encodeFrame('x'.repeat(10), 10));
    expect(reader.next()).toBe('x'.repeat(10));
    reader.push(encodeFrame('x'.repeat(11), 11));
    expect(() => reader.next()).toThrow('larger than the 10 bytes allowed');
  });

  it('a header that claims much and brings nothing costs no memory', SLOW, () => {
    const before = process.memoryUsage().arrayBuffers;
    const readers = Array.from({ length: 50 }, () => {
      const reader = new FrameReader(MAX_FRAME_BYTES);
      reader.push(Uint8Array.from([0x07, 0xff, 0xff, 0xff, 0x7b]));
      expect(reader.next()).toBeNull();
      return reader;
    });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1 << 20);
    expect(readers.every((reader) => reader.partial)).toBe(true);
  });

  it('what a worker may send grows with its limits and never above the ceiling', () => {
    const limits = defaultLimits('run');
    expect(frameLimit(limits)).toBe(25 * (1 << 20));
    expect(frameLimit({ ...limits, lineBytes: 1 << 28 })).toBe(MAX_FRAME_BYTES);
  });
});

describe('frames over a blocking pipe', () => {
  const over = (bytes: Uint8Array, step: number): FramePipe => {
    let at = 0;
    return new FramePipe({
      read(into) {
        const part = bytes.subarray(at, Math.min(at + step, at + into.length));
        into.set(part);
        at += part.length;
        return part.length;
      },
      write: (part) => part.length,
    });
  };

  it('reads frame after frame, then null at the end', () => {
    const pipe = over(Buffer.concat([encodeFrame('one', CAP), encodeFrame('two', CAP)]), 3);
    expect([pipe.read(), pipe.read(), pipe.read()]).toEqual(['one', 'two', null]);
  });

  it('an end within a frame is a violation', () => {
    expect(() => over(encodeFrame('cut off', CAP).subarray(0, 7), 3).read()).toThrow(WireError);
  });

  it('writes on after a short write', () => {
    const written: number[] = [];
    const pipe = new FramePipe({
      read: () => 0,
      write(bytes) {
        written.push(...bytes.subarray(0, 2));
        return Math.min(2, bytes.length);
      },
    });
    pipe.write('abc');
    expect(written).toEqual([0, 0, 0, 3, 0x61, 0x62, 0x63]);
  });
});

describe('frames that are held', () => {
  const recorded = (): { readonly pipe: FramePipe; readonly writes: string[] } => {
    const writes: string[] = [];
    const write = (bytes: Uint8Array): number => {
      writes.push(Buffer.from(bytes).toString('latin1'));
      return bytes.length;
    };
    return { pipe: new FramePipe({ read: () => 0, write }), writes };
  };
  const bytesOf = (...texts: readonly string[]): string =>
    Buffer.concat(texts.map((text) => encodeFrame(text, CAP))).toString('latin1');

  it('go out in front of the next one, in one list', () => {
    const { pipe, writes } = recorded();
    pipe.hold('one');
    pipe.hold('two');
    expect(writes).toEqual([]);
    pipe.write('three');
    expect(writes).toEqual([bytesOf('[one,two,three]')]);
  });

  it('go out before anything is waited for, and when they are flushed', () => {
    const { pipe, writes } = recorded();
    pipe.hold('one');
    pipe.read();
    expect(writes).toEqual([bytesOf('one')]);
    pipe.hold('two');
    pipe.flush();
    pipe.flush();
    expect(writes).toEqual([bytesOf('one'), bytesOf('two')]);
  });

  it('go out by themselves when they are many: memory for them is not held without end', () => {
    const { pipe, writes } = recorded();
    const text = 'x'.repeat(20_000);
    for (let n = 0; n < 10; n++) pipe.hold(text);
    const three = bytesOf(`[${text},${text},${text}]`);
    expect(writes).toEqual([three, three, three]);
  });

  it('make no list of more than 64 Ki units: a large one goes alone', () => {
    const { pipe, writes } = recorded();
    const large = 'x'.repeat(65_536);
    pipe.hold('one');
    pipe.hold('two');
    pipe.write(large);
    expect(writes).toEqual([bytesOf('[one,two]'), bytesOf(large)]);
  });
});

describe('the JSON of a frame', () => {
  it('nests as deep as the bound and not one level deeper', () => {
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
    expect(parseFrame(nested(MAX_FRAME_DEPTH))).toBeInstanceOf(Array);
    expect(() => parseFrame(nested(MAX_FRAME_DEPTH + 1))).toThrow('nests deeper');
  });

  it('brackets in strings are no nesting, wherever quotes and backslashes stand', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('"', '\\', '[', '{', 'a'), { maxLength: 40 }), (units) => {
        const text = units.join('') + '['.repeat(MAX_FRAME_DEPTH + 1);
        expect(parseFrame(JSON.stringify({ [text]: text }))).toEqual({ [text]: text });
      }),
    );
  });

  it('what is no JSON is a violation, not a crash', () => {
    for (const text of ['{', '"', '"\\', 'nul', '[1,]', '{"a":1}}']) expect(() => parseFrame(text), text).toThrow(WireError);
  });
});
