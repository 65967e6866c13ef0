import { describe, expect, it } from 'vitest';
import { LineSplitter, splitLines } from '../../src/files/lines.ts';
import { cpuMs } from '../cost.ts';
import { SLOW } from '../groups.ts';

const split = (maxBytes: number, ...chunks: string[]) => {
  const lines = new LineSplitter(maxBytes);
  return chunks.flatMap((chunk) => [...lines.push(Buffer.from(chunk))].map((line) => line?.toString() ?? null));
};

describe('the lines of a stream (finding 11)', () => {
  it('are the same however they are cut into chunks', () => {
    const text = 'one\n\ntwo, ünï\nthree';
    expect(split(20, text)).toEqual(['one', '', 'two, ünï']);
    expect(split(20, ...text)).toEqual(['one', '', 'two, ünï']);
  });

  it('are reported once when they are too long, as soon as they are, and the next line is read', () => {
    expect(split(3, 'abc\nabcd\nabc\n')).toEqual(['abc', null, 'abc']);
    expect(split(3, 'ab', 'cd', 'ef', 'gh\ni', 'j\n')).toEqual([null, 'ij']);
  });

  it('cost the same for each byte, byte by byte too', SLOW, () => {
    const time = (bytes: number, enough?: number) => {
      const one = Buffer.from('x');
      return cpuMs(
        () => {
          const lines = new LineSplitter(bytes);
          for (let sent = 0; sent < bytes; sent++) for (const _ of lines.push(one));
        },
        3,
        enough,
      );
    };
    time(100_000);
    const most = 2.5 * time(250_000) + 12.5;
    expect(time(500_000, most)).toBeLessThan(most);
  });

  it('18: no chunk takes more memory because the line is long', SLOW, () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const bytes = 16 * 2 ** 20;
    const lines = new LineSplitter(bytes);
    let most = 0;
    for (let sent = 0; sent < bytes; sent += chunk.length) {
      const before = process.memoryUsage().arrayBuffers;
      for (const _ of lines.push(chunk));
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(2 * chunk.length);
    expect(lines.end()?.length).toBe(bytes);
  });

  it('18: no chunk takes more memory because its lines are short', SLOW, () => {
    const chunk = Buffer.from('x\n'.repeat(32 * 1024));
    const before = process.memoryUsage().arrayBuffers;
    const lines = [...new LineSplitter(100).push(chunk)];
    expect(lines).toHaveLength(32 * 1024);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * chunk.length);
  });
});

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function lines(cap: number, ...texts: string[]): Promise<string[]> {
  const found: string[] = [];
  for await (const line of splitLines(chunks(...texts), cap)) found.push(line?.toString() ?? 'TOO LONG');
  return found;
}

describe('lines of a stream', () => {
  it('are whole however the stream is cut', async () => {
    expect(await lines(100, 'ab', 'c\nde', '\n', '\nlast')).toEqual(['abc', 'de', '', 'last']);
    expect(await lines(100, ...'abc\nde\n\nlast'.split(''))).toEqual(['abc', 'de', '', 'last']);
  });

  it('need no line feed at the end, and a line feed at the end starts none', async () => {
    expect(await lines(100, 'a\n')).toEqual(['a']);
    expect(await lines(100)).toEqual([]);
  });

  it('longer than the cap are reported, and the stream goes on', async () => {
    expect(await lines(3, 'abc\nabcd\nx\n', 'aaaa', 'aaaa', '\nend')).toEqual(['abc', 'TOO LONG', 'x', 'TOO LONG', 'end']);
    expect(await lines(3, 'abcd')).toEqual(['TOO LONG']);
  });
});
