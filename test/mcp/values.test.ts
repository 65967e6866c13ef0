import { describe, expect, it } from 'vitest';
import { ValueMeter } from '../../src/files/valuemeter.ts';
import { refusal } from '../../src/mcp/server/intake.ts';
import { MOST_VALUES } from '../../src/mcp/values.ts';

/** Whether all pieces are taken, byte by byte: the worst way to cut a message. */
function takes(text: string, ofEvents = false): boolean {
  const meter = new ValueMeter(ofEvents, MOST_VALUES);
  return [...Buffer.from(text)].every((byte) => meter.take(Uint8Array.of(byte)));
}

const { containers, items, keys } = MOST_VALUES;
const lists = (count: number) => `[${'[]'.repeat(count - 1)}]`;

describe('the values of a message that arrives in pieces', () => {
  it('are counted at their limit, and texts are not', () => {
    expect([takes(lists(containers)), takes(lists(containers + 1))]).toEqual([true, false]);
    expect([takes(','.repeat(items)), takes(','.repeat(items + 1))]).toEqual([true, false]);
    expect([takes('['.repeat(1000)), takes('['.repeat(1001))]).toEqual([true, false]);
    expect(takes(`"${',[{'.repeat(items)}\\",,,${'['.repeat(2000)}"`)).toBe(true);
    expect(takes(`"\\\\"${'['.repeat(1001)}`)).toBe(false);
  });

  it('finding 8: the keys of one map are counted, which the parser of the engine takes longest for', () => {
    const map = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":{":":[":"]}`).join(',')}}`;
    const tried = [map(keys), `[${map(keys)},${map(keys)}]`, map(keys + 1), `[0,${map(keys + 1)}]`];
    expect(tried.map((text) => takes(text))).toEqual([true, true, false, false]);
    expect(tried.map((text) => refusal(text) === null)).toEqual([true, true, false, false]);
    expect(takes('data: 0\n\n'.repeat(keys + 1), true)).toBe(true);
  });

  it('of a stream begin anew with each event, and only there', () => {
    const half = lists(containers / 2 + 1);
    expect(takes(`data: ${half}\n\ndata: ${half}\n\n`, true)).toBe(true);
    expect(takes(`data: ${half}\r\n\r\ndata: ${half}\r\n\r\n`, true)).toBe(true);
    expect(takes(`data: ${half}\ndata: ${half}\n\n`, true)).toBe(false);
    expect(takes(`${half}\n\n${half}`)).toBe(false);
    // A quote that nothing closes ends with its line.
    expect(takes(`: it's "quoted\ndata: ${lists(containers + 1)}`, true)).toBe(false);
  });

  it('of a stream are counted also where one piece has a whole event and more', () => {
    for (const event of [lists(containers + 1), ','.repeat(items + 1)])
      expect(new ValueMeter(true, MOST_VALUES).take(Buffer.from(`data: ${event}\n\ndata: 0\n\n`))).toBe(false);
  });

  it('finding 8: no bracket of a comment lets the message behind it nest deeper, or have more keys', () => {
    const map = `{${Array.from({ length: keys + 1 }, (_, index) => `"k${index}":0`).join(',')}}`;
    expect(takes(`: ]\ndata: ${map}\n\n`, true)).toBe(false);
    expect(takes(`: ${']'.repeat(1000)}\ndata: ${'['.repeat(1001)}`, true)).toBe(false);
  });
});
