import { PassThrough, Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { type Message, StreamMessageWriter } from 'vscode-languageserver/node';
import { WholeMessageWriter } from '../../src/lsp/server.ts';

const MESSAGES = ['plain', 'ünï 😀 \u0000 \r\n', '', 'x'.repeat(100_000)].map(
  (text, id): Message => ({ jsonrpc: '2.0', id, method: 'm', params: { text } }) as Message,
);

/** What a writer writes, piece by piece. */
async function pieces(make: (output: Writable) => Pick<StreamMessageWriter, 'write' | 'end'>): Promise<Buffer[]> {
  const written: Buffer[] = [];
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk);
      done();
    },
  });
  const writer = make(output);
  // All at once, as answers that come together.
  await Promise.all(MESSAGES.map((message) => writer.write(message)));
  writer.end();
  expect(output.writableEnded).toBe(true);
  return written;
}

it('each message is written at once, and byte by byte as the library writes it', async () => {
  const [whole, parts] = [await pieces((to) => new WholeMessageWriter(to)), await pieces((to) => new StreamMessageWriter(to))];
  expect(whole).toHaveLength(MESSAGES.length);
  expect(Buffer.concat(whole).equals(Buffer.concat(parts))).toBe(true);
});

it('a client that is gone is told of as the library tells it', async () => {
  const told = await Promise.all(
    [WholeMessageWriter, StreamMessageWriter].map(async (Writer) => {
      const output = new PassThrough();
      const writer = new Writer(output);
      const events: unknown[] = [];
      writer.onError(([error, message, count]) => events.push([error.message, message, count]));
      writer.onClose(() => events.push('closed'));
      output.destroy(new Error('gone'));
      await new Promise(setImmediate);
      const failed = await writer.write(MESSAGES[0] as Message).catch((error: unknown) => error);
      return { events, failed: failed instanceof Error };
    }),
  );
  expect(told[0]?.events).toContain('closed');
  expect(told[0]).toEqual(told[1]);
});
