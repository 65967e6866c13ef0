import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { remoteSigner } from '../../examples/remote-signer/client.ts';
import {
  type CryptoPort,
  defaultCrypto,
  generateKeys,
  type KeyInit,
  Keyring,
  publicKeys,
  saveKeyFile,
} from '../../src/aeiou/index.ts';
import { tempFolder } from '../folder.ts';
import { SLOW } from '../groups.ts';
import { type Program, TestClock } from './fake.ts';
import { bench, turnOf } from './harness.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/remote-signer/', import.meta.url));
const clock = new TestClock();

let folder: string;
let agents: ChildProcess[];
beforeEach(() => {
  folder = tempFolder();
  agents = [];
});
afterEach(() => {
  for (const agent of agents) agent.kill('SIGKILL');
});

const [primary, fallback] = generateKeys('host') as [KeyInit, KeyInit];
const socket = (): string => join(folder, 'agent.sock');

/** An agent that signs with `key` after `delay` milliseconds, listening. */
async function startAgent(delay = 0, key = primary): Promise<ChildProcess> {
  const file = join(folder, `${agents.length}.json`);
  saveKeyFile(file, [key]);
  const agent = spawn(process.execPath, [join(EXAMPLE, 'agent.ts'), socket(), file, String(delay)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  agents.push(agent);
  await Promise.race([once(agent.stdout, 'data'), once(agent, 'exit')]);
  expect(agent.exitCode).toBeNull();
  return agent;
}

/** A host that has the public half of the primary key, and its own fallback. */
function hostKeys(crypto: CryptoPort = defaultCrypto): Keyring {
  const keys = new Keyring({ clock, crypto });
  for (const half of publicKeys([primary]))
    if ('publicKey' in half) keys.add({ ...half, role: 'primary', signer: remoteSigner(socket(), half.kid) });
  keys.add(fallback);
  return keys;
}

const done: Program = async ({ emit, magic }) => emit(await magic('done'));
const turn = async (keyring: Keyring, program = done) => (await turnOf(bench({ program }, { clock, keyring }), 'program')).record;

describe('a signer behind a socket', () => {
  it('signs what the program asks for; the host holds no private half of it', SLOW, async () => {
    await startAgent();
    expect(statSync(socket()).mode & 0o777).toBe(0o600);
    const keyring = hostKeys();
    expect(await turn(keyring)).toMatchObject({ decision: 'DONE', kid: 'host-primary' });
    expect(keyring.list()[0]).toMatchObject({ kid: 'host-primary', role: 'primary' });
  });

  it('A3-11.4-2 AL3-10-4: killed in the middle of a mint, the fallback mints an abort', SLOW, async () => {
    const agent = await startAgent(60_000);
    const keyring = hostKeys();
    const asked = turn(keyring);
    setTimeout(() => agent.kill('SIGKILL'), 100);
    expect(await asked).toMatchObject({ decision: 'ABORT', reason: null, kid: 'host-fallback' });
  });

  it('started again, it signs again; not there, slow to go or with another key, it is the fallback', SLOW, async () => {
    const keyring = hostKeys();
    expect(await turn(keyring)).toMatchObject({ decision: 'ABORT', kid: 'host-fallback' });
    const first = await startAgent();
    expect(await turn(keyring)).toMatchObject({ decision: 'DONE', kid: 'host-primary' });
    first.kill('SIGKILL');
    await once(first, 'exit');
    rmSync(socket(), { force: true });
    const [stranger] = generateKeys('host') as [KeyInit];
    await startAgent(0, stranger);
    expect(await turn(keyring)).toMatchObject({ decision: 'ABORT', kid: 'host-fallback' });
  });

  it(
    'A3-11.4-3 A3-11.4-4 AL3-8-13: with the fallback down too, the program gets a typed error and the turn is HALT',
    SLOW,
    async () => {
      // The fallback key is in memory; what can fail there is the cryptography itself.
      const broken: CryptoPort = {
        ...defaultCrypto,
        ed25519Signer: () => () => {
          throw new Error('the module is locked');
        },
      };
      const told: string[] = [];
      const swallow: Program = async ({ emit, magic }) => {
        await magic('done').catch((error: Error) => told.push(error.message));
        emit('went on');
      };
      const agent = await startAgent(60_000);
      const asked = turn(hostKeys(broken), swallow);
      setTimeout(() => agent.kill('SIGKILL'), 100);
      expect(await asked).toMatchObject({
        decision: 'HALT',
        reason: 'ERR_MAGIC_TOOL_INTERNAL',
        output: 'went on\n',
        candidates: [],
      });
      expect(told).toEqual([expect.stringMatching(/^ERR_MAGIC_TOOL_INTERNAL: /)]);
    },
  );

  it('the end of the turn takes the question back', SLOW, async () => {
    await startAgent(60_000);
    const signer = remoteSigner(socket(), 'host-primary');
    const controller = new AbortController();
    const signing = signer(new Uint8Array(1), controller.signal);
    controller.abort(new Error('the turn is over'));
    await expect(signing).rejects.toThrow();
  });

  it('the example prints what its page says', SLOW, () => {
    const page = readFileSync(join(EXAMPLE, 'README.md'), 'utf8');
    const printed = execFileSync(process.execPath, [join(EXAMPLE, 'main.ts')], { encoding: 'utf8' });
    expect(printed).toBe(/```text\n([\s\S]*?)```/.exec(page)?.[1]);
  });
});
