import { createConnection } from 'node:net';
import type { Signer } from 'neuroscript-runtime/aeiou';
import type { SignAnswer, SignRequest } from './protocol.ts';

/** Most characters of an answer: a tag has 86. */
const MAX_ANSWER = 4096;

/**
 * A `Signer` whose private key is in another process, behind a socket (a Unix socket's path here; a key service would be an
 * HTTPS client). One connection a signature: simple, and a restarted agent is found again at once.
 *
 * It rejects when the agent is not there, ends before it has answered, refuses, or when the runtime gives up waiting: then
 * the runtime mints an abort with its fallback key. The tag need not be checked here; the runtime does.
 */
export function remoteSigner(socket: string, kid: string): Signer['sign'] {
  return async (message, signal) => {
    const request: SignRequest = { id: 1, kid, message: Buffer.from(message).toString('base64url') };
    const answer: SignAnswer = JSON.parse(await exchange(socket, JSON.stringify(request), signal));
    if ('error' in answer) throw new Error(`the signing agent refused: ${answer.error}`);
    return new Uint8Array(Buffer.from(answer.tag, 'base64url'));
  };
}

/** One line there, one line back. */
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
