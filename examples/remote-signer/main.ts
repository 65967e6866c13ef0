// Three turns of a host whose primary key is in another process. The agent signs the first turn. The fallback key signs the
// second turn, because the agent is killed while it signs, and the third turn, because there is no agent.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime } from 'neuroscript-runtime';
import { generateKeys, Keyring, publicKeys, saveKeyFile } from 'neuroscript-runtime/aeiou';
import { LoopController } from 'neuroscript-runtime/loop';
import { remoteSigner } from './client.ts';

const folder = mkdtempSync(join(tmpdir(), 'remote-signer-'));
const socket = join(folder, 'agent.sock');
const keyFile = join(folder, 'keys.json');

// Only the agent gets the private half of the primary key. The host keeps the public half, and the fallback key.
const [primary, fallback] = generateKeys('demo');
if (primary === undefined || fallback === undefined) throw new Error('there are always two');
saveKeyFile(keyFile, [primary]);
const keyring = new Keyring({ clock: Date });
for (const half of publicKeys([primary]))
  if ('publicKey' in half) keyring.add({ ...half, role: 'primary', signer: remoteSigner(socket, half.kid) });
keyring.add(fallback);

const agent = spawn(process.execPath, [join(import.meta.dirname, 'agent.ts'), socket, keyFile, '300'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
await once(agent.stdout, 'data');

const reply = `<<<NSENV:V3:START>>>
<<<NSENV:V3:USERDATA>>>
{}
<<<NSENV:V3:ACTIONS>>>
command
  emit tool.aeiou.magic("LOOP", {"action": "done"})
endcommand
<<<NSENV:V3:END>>>`;

await using runtime = await createRuntime({});
const loop = new LoopController({ runtime, keyring });
const turn = async (what: string): Promise<void> => {
  const { decision, turns } = await loop.runLoop({
    userdata: { subject: 'demo', fields: {} },
    agent: { reply: async () => reply },
  });
  process.stdout.write(`${what}: ${decision}, signed by ${turns[0]?.kid}\n`);
};

await turn('the agent signs');
setTimeout(() => agent.kill('SIGKILL'), 100);
await turn('the agent is killed while it signs');
await turn('nobody is there');
rmSync(folder, { recursive: true });
