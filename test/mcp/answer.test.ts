import { expect, it } from 'vitest';
import { scriptValue } from '../../src/mcp/answer.ts';
import { NS_CODES } from '../../src/wire/codes.ts';

const answer = (...content: readonly unknown[]) =>
  scriptValue({ isError: false, content, structured: undefined }, async () => null);

it('issue 44: a part of an MCP answer is kept exactly, or refused with its place', async () => {
  expect(await answer({ type: 'text', text: 'a' })).toBe('a');
  expect(await answer({ type: 'image', data: 'AA\nEC' })).toEqual([{ type: 'image', data: new Uint8Array([0, 1, 2]) }]);
  expect(await answer({ type: 'audio', data: 'AQ' })).toEqual([{ type: 'audio', data: new Uint8Array([1]) }]);
  const refused = [null, 'text', 1, ['a'], new Map(), { type: 'image', data: '%%' }, { type: 'image', data: 'AAE*' }];
  for (const part of refused)
    await expect(answer({ type: 'text', text: 'a' }, part), JSON.stringify(part)).rejects.toMatchObject({
      nsCode: NS_CODES.External,
      message: expect.stringContaining('content[1]'),
    });
});
