import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AgentError, commandAgent } from '../../../src/loop/agents/index.ts';
import { requestReply } from '../../../src/loop/turn/consult.ts';
import { ConfigError } from '../../../src/wire/errors.ts';
import { tempFolder } from '../../folder.ts';
import { SLOW } from '../../groups.ts';
import { requestOf } from './request.ts';

const folder = tempFolder();

/** An agent that is a program of Node given as text. */
const node = (program: string, options = {}) =>
  commandAgent({ argv: [process.execPath, '--input-type=commonjs', '-e', program], ...options });
const failure = async (promise: Promise<unknown>): Promise<AgentError> =>
  (await promise.then(
    () => null,
    (error: unknown) => error,
  )) as AgentError;

/** Waits until a process is gone; throws when it stays. */
async function gone(pid: number): Promise<void> {
  for (let look = 0; look < 200; look++) {
    const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
    if (stat === '' || /\) Z/.test(stat)) return;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`process ${pid} is still there`);
}

/** A program that starts one that never ends, writes the ids of both to a file, and never ends either. */
const endless = (file: string) => `
  const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
  require('node:fs').writeFileSync(${JSON.stringify(file)}, process.pid + ' ' + child.pid);
  setInterval(() => {}, 1000);`;
async function pidsOf(file: string): Promise<number[]> {
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') await new Promise((done) => setTimeout(done, 10));
  return readFileSync(file, 'utf8').split(' ').map(Number);
}

describe('the command agent', () => {
  it('gives system text and prompt on standard input, and takes standard output as the reply', async () => {
    const agent = node('process.stdin.pipe(process.stdout)');
    const text = await agent.reply(requestOf({ system: 'the rules', prompt: 'ünïcode 🎈' }));
    expect(text).toMatch(/^the rules\n[\s\S]*\nünïcode 🎈\n$/);
    expect(await agent.reply(requestOf({ system: '', prompt: 'only this' }))).toBe('only this');
  });

  it('says in the environment which session, turn and attempt it is', async () => {
    const names = ['SID', 'TURN', 'ATTEMPT'].map((name) => `NEUROSCRIPT_${name}`);
    const agent = node(`process.stdout.write(${JSON.stringify(names)}.map((name) => process.env[name]).join('|'))`);
    expect(await agent.reply(requestOf({ sid: 'a b$(x)', turn: 7, attempt: 2 }))).toBe('a b$(x)|7|2');
  });

  it('has no shell: nothing in the arguments is expanded', async () => {
    const agent = commandAgent({ argv: [process.execPath, '-p', 'process.argv.slice(1).join()', '$HOME', '*', '; ls'] });
    expect(await agent.reply(requestOf())).toBe('$HOME,*,; ls\n');
  });

  it('need not read its input, however long that is', async () => {
    const agent = node('process.stdout.write("done"); process.exit(0)');
    expect(await agent.reply(requestOf({ prompt: 'x'.repeat(4_000_000) }))).toBe('done');
  });

  it('gets exactly the environment that it is given', async () => {
    const agent = node('process.stdout.write(Object.keys(process.env).sort().join())', { env: { OWN: '1' } });
    expect(await agent.reply(requestOf())).toBe('NEUROSCRIPT_ATTEMPT,NEUROSCRIPT_SID,NEUROSCRIPT_TURN,OWN');
  });

  it.each([
    ['process.exit(3)', / ended with code 3$/],
    ['console.error("one"); console.error("no model"); process.exit(1)', / ended with code 1: no model$/],
    ['process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 9)', / ended with SIGTERM$/],
  ])('fails when the command does: %s', async (program, message) => {
    expect(await failure(node(program).reply(requestOf({ turn: 3 })))).toMatchObject({
      code: 'ERR_AGENT',
      reason: 'ERR_AGENT',
      turn: 3,
      message: expect.stringMatching(message),
    });
  });

  it('fails when there is no such program', async () => {
    const agent = commandAgent({ argv: ['/nowhere/agent'] });
    expect(await failure(agent.reply(requestOf()))).toMatchObject({
      message: 'turn 1 has no reply: /nowhere/agent could not be started: there is no such program',
    });
  });

  it('is killed, with all it has started, when its time is up', SLOW, async () => {
    const file = join(folder, 'late');
    const error = await failure(node(endless(file), { timeoutMs: 1500 }).reply(requestOf()));
    expect(error).toMatchObject({ reason: 'ERR_TIMEOUT', message: expect.stringContaining('was killed after 1500 ms') });
    for (const pid of await pidsOf(file)) await gone(pid);
  });

  it('is killed, with all it has started, when the session is cancelled', SLOW, async () => {
    const file = join(folder, 'cancelled');
    const stop = new AbortController();
    const asked = failure(requestReply(node(endless(file)), requestOf(), { signal: stop.signal }));
    const pids = await pidsOf(file);
    stop.abort();
    expect(await asked).toMatchObject({ reason: 'ERR_CANCELLED' });
    for (const pid of pids) await gone(pid);
  });

  it('is killed once it has said more than an envelope can hold', async () => {
    const file = join(folder, 'talks');
    const talk = `require('node:fs').writeFileSync(${JSON.stringify(file)}, String(process.pid));
      const say = () => { while (process.stdout.write('x'.repeat(65536))); process.stdout.once('drain', say); }; say();`;
    const reply = await node(talk).reply(requestOf());
    expect(String(reply).length).toBeGreaterThan(1_048_576);
    expect(String(reply).length).toBeLessThan(1_048_576 + 1_000_000);
    for (const pid of await pidsOf(file)) await gone(pid);
  });

  it.each([
    [{ argv: [] }],
    [{ argv: [''] }],
    [{ argv: ['a\0b'] }],
    [{ argv: 'ls' }],
    [{ argv: ['ls'], timeoutMs: 0 }],
    [{ argv: ['ls'], timeout: 5 }],
  ])('refuses %j', (options) => {
    expect(() => commandAgent(options as never)).toThrow(ConfigError);
  });
});
