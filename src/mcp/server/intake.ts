import { isMonstrous } from '../../files/json.ts';
import { splitLines } from '../../files/lines.ts';

/** Maximum bytes of one message of a client. */
export const MESSAGE_BYTES = 4 * 1024 * 1024;

/** Maximum numbers of values in one message: the library that parses it takes some hundred bytes for each. */
const MOST_VALUES = { containers: 100_000, items: 500_000 };

/** JSON-RPC's code for a message that is no valid request. */
const INVALID_REQUEST = -32600;

/**
 * Passes on the messages of a client, one line each, without parsing them. The answer to a message with too many bytes or values is a
 * JSON-RPC error for `answer`; its `id` is null, because the message is not read. `writable` resolves when the client takes answers.
 */
export async function* takeIn(
  input: AsyncIterable<Uint8Array>,
  answer: (line: string) => void,
  writable: () => Promise<void>,
): AsyncGenerator<Buffer> {
  const refuse = (message: string) =>
    answer(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: INVALID_REQUEST, message } })}\n`);
  for await (const line of splitLines(input, MESSAGE_BYTES)) {
    await writable();
    if (line === null) refuse(`the message has more than ${MESSAGE_BYTES} bytes`);
    else if (isMonstrous(line.toString(), MOST_VALUES)) refuse('the message nests too deep, or has too many values');
    else yield Buffer.concat([line, Buffer.from('\n')]);
  }
}
