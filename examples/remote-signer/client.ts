import { createConnection } from 'node:net';
import type { Signer } from 'neuroscript-runtime/aeiou';
import type { SignAnswer, SignRequest } from './protocol.ts';

/** Maximum number of characters of an answer. A tag has 86. */
const MAX_ANSWER = 4096;

/**
 * A `Signer` whose private key is in another process, behind a Unix socket. For a key service, use an HTTPS client instead. Each
 * signature opens a connection, so a restarted agent is found again at once.
 *
 * It rejects if the agent is absent, ends before it answers or refuses, or if the runtime stops waiting. Then the runtime mints
 * an abort with its fallback key. The runtime verifies the tag.
 */
export function remoteSigner(socket: string, kid: string): Signer['sign'] {
  return async (message, signal) => {
    const request: SignRequest = { id: 1, kid, message: Buffer.from(message).toString('base64url') };
    const answer: SignAnswer = JSON.parse(await exchange(socket, JSON.stringify(request), signal));
    if ('error' in answer) throw new Error(`the signing agent refused: ${answer.error}`);
    return new Uint8Array(Buffer.from(answer.tag, 'base64url'));
  };
}

/** Sends one line and reads one line. */
function exchange(socket: string, line: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const connection = createConnection({ path: socket, signal }, () => connection.write(`${line}\n`));
    let text = '';
    connection.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      const end = text.indexOf('\n');
      if (end === -1 && text.length <= MAX_ANSWER) return;
      if (end === -1) reject(new Error('the signing agent answered without end'));
      else resolve(text.slice(0, end));
      connection.destroy();
    });
    connection.on('error', reject);
    connection.on('close', () => reject(new Error('the signing agent ended before it answered')));
  });
}
