import { isMonstrous } from '../../files/json.ts';
import { splitLines } from '../../files/lines.ts';
import { MOST_VALUES } from '../values.ts';

/** Maximum bytes of one message of a client. */
export const MESSAGE_BYTES = 4 * 1024 * 1024;

/** JSON-RPC's code for a message that is no valid request. */
const INVALID_REQUEST = -32600;

/** The reason to refuse a message unread. */
export const TOO_LONG = `the message has more than ${MESSAGE_BYTES} bytes`;

/** The reason to refuse a message of permitted length without parsing it; null when it can be parsed. */
export function refusal(message: string): string | null {
  return isMonstrous(message, MOST_VALUES) ? 'the message nests too deep, or has too many values' : null;
}

/** The JSON-RPC error for a message that is not read: its `id` is null. */
export function refused(message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: INVALID_REQUEST, message } });
}

/**
 * Yields the messages of a client, one line each, without parsing them. Calls `answer` with a JSON-RPC error for a message with too many
 * bytes or values. `writable` resolves when the client takes answers.
 */
export async function* takeIn(
  input: AsyncIterable<Uint8Array>,
  answer: (line: string) => void,
  writable: () => Promise<void>,
): AsyncGenerator<Buffer> {
  for await (const line of splitLines(input, MESSAGE_BYTES)) {
    await writable();
    const reason = line === null ? TOO_LONG : refusal(line.toString());
    if (line === null || reason !== null) answer(`${refused(reason ?? TOO_LONG)}\n`);
    else yield Buffer.concat([line, Buffer.from('\n')]);
  }
}
