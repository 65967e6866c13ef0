import { describe, expect, it } from 'vitest';
import { LineSplitter } from '../../src/mcp/lines.ts';

const split = (maxBytes: number, ...chunks: string[]) => {
  const lines = new LineSplitter(maxBytes);
  return chunks.flatMap((chunk) => [...lines.push(Buffer.from(chunk))].map((line) => line?.toString() ?? null));
};

describe('the lines of a stream (SEC-11)', () => {
  it('are the same however they are cut into chunks', () => {
    const text = 'one\n\ntwo, ünï\nthree';
    expect(split(20, text)).toEqual(['one', '', 'two, ünï']);
    expect(split(20, ...text)).toEqual(['one', '', 'two, ünï']);
  });

  it('are reported once when they are too long, as soon as they are, and the next line is read', () => {
    expect(split(3, 'abc\nabcd\nabc\n')).toEqual(['abc', null, 'abc']);
    expect(split(3, 'ab', 'cd', 'ef', 'gh\ni', 'j\n')).toEqual([null, 'ij']);
  });

  it('cost the same for each byte, byte by byte too', () => {
    const time = (bytes: number) => {
      const lines = new LineSplitter(bytes);
      const one = Buffer.from('x');
      const before = process.cpuUsage();
      for (let sent = 0; sent < bytes; sent++) for (const _ of lines.push(one));
      return process.cpuUsage(before).user;
    };
    time(100_000);
    expect(time(2_000_000)).toBeLessThan(2.5 * time(1_000_000) + 50_000);
  });
});
