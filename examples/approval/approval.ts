import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, defineTool, loadMockTools } from 'neuroscript-runtime';
import { generateKeys, keyringFrom, loadKeyFile, saveKeyFile } from 'neuroscript-runtime/aeiou';
import { LoopController, SqliteStore, scriptAgent, systemClock } from 'neuroscript-runtime/loop';

const here = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const say = (text: string): boolean => process.stdout.write(`${text}\n`);

/** Replaces the tool of tools.yaml that asks a person. */
const approve = defineTool({
  name: 'tool.human.Approve',
  args: [{ name: 'what', type: 'string' }],
  returns: 'string',
  run: ({ what }, runtime) => runtime.pending({ reason: `may I ${what}?`, expiresIn: 86_400_000 }),
});
const mocks = loadMockTools(here('tools.yaml'), 'tools.yaml').filter((tool) => tool.canonicalName !== approve.canonicalName);
const agent = scriptAgent(here('agent.txt'), 'agent.txt');

/** A host of the session; both processes make one. */
async function host(folder: string, resources: AsyncDisposableStack): Promise<LoopController> {
  const runtime = resources.use(
    await createRuntime({ tools: [approve, ...mocks], policy: { allow: ['tool.shop.*', 'tool.human.*'] }, concurrency: 1 }),
  );
  const store = resources.use(await SqliteStore.open(join(folder, 'jobs.db')));
  const keyring = keyringFrom(loadKeyFile(join(folder, 'keys.json')), { clock: systemClock });
  return new LoopController({ runtime, keyring, store });
}

/** Runs until the turn waits. The process does not end by itself. */
async function first(folder: string): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const loop = await host(folder, resources);
  const { decision, waiting } = await loop.runLoop({ userdata: { subject: 'order', fields: {} }, agent, sid: 'order' });
  say(`${decision}: call ${waiting?.call}, ${waiting?.reason}`);
  await new Promise((never) => setTimeout(never, 2 ** 30));
}

/** Continues the session in another process. */
async function second(folder: string): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const loop = await host(folder, resources);
  for (const { sid, waits } of await loop.list()) {
    if (waits === null) continue;
    await loop.complete(sid, waits.call, { result: 'yes' });
    const { decision, turns } = await loop.resume(sid, { agent, keepTurns: true });
    for (const { turn, output } of turns) say(`turn ${turn}: ${output.split('\n').slice(0, -2).join('; ')}`);
    say(decision);
  }
}

const [mode, folder = ''] = process.argv.slice(2);
if (mode === 'first') await first(folder);
else {
  const made = mkdtempSync(join(tmpdir(), 'approval-'));
  saveKeyFile(join(made, 'keys.json'), generateKeys('shop'));
  const child = spawn(process.execPath, [import.meta.filename, 'first', made], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = await once(child.stdout, 'data');
  process.stdout.write(String(text));
  child.kill('SIGKILL');
  const [, signal] = await once(child, 'exit');
  say(`the process was ended by ${String(signal)}`);
  await second(made);
  rmSync(made, { recursive: true });
}
