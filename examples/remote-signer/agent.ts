// The process that holds the primary key: node agent.ts SOCKET KEYFILE [DELAY_MS]. It prints `ready` when it listens. DELAY_MS
// delays each signature, so that the agent can be killed before it answers.
import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { keyringFrom, loadKeyFile } from 'neuroscript-runtime/aeiou';
import type { SignAnswer, SignRequest } from './protocol.ts';

const [socket, keyFile, delay = '0'] = process.argv.slice(2);
if (socket === undefined || keyFile === undefined) throw new Error('usage: node agent.ts SOCKET KEYFILE [DELAY_MS]');
const signer = keyringFrom(loadKeyFile(keyFile), { clock: Date }).signer('primary');
if (signer === null) throw new Error(`${keyFile} has no primary key to sign with`);
const never = new AbortController().signal;

async function answer({ id, kid, message }: SignRequest): Promise<SignAnswer> {
  await sleep(Number(delay));
  if (signer === null || kid !== signer.kid) return { id, error: 'no such key' };
  const tag = await signer.sign(Buffer.from(message, 'base64url'), never);
  return { id, tag: Buffer.from(tag).toString('base64url') };
}

const server = createServer((connection) => {
  // A client that disconnects does not want the answer.
  connection.on('error', () => connection.destroy());
  createInterface({ input: connection }).on('line', async (line) => {
    const reply = await answer(JSON.parse(line));
    if (connection.writable) connection.write(`${JSON.stringify(reply)}\n`);
  });
});
server.listen(socket, () => {
  // Only the owner of the key may ask for signatures.
  chmodSync(socket, 0o600);
  process.stdout.write('ready\n');
});
