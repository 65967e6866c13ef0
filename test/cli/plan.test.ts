import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SqliteStore } from '../../src/loop/index.ts';
import { type Grant, grantText } from '../../src/tools/index.ts';
import { reply } from '../aeiou/kit.ts';
import { command, folder } from './spawn.ts';
import { within } from './terminal.ts';

const EXAMPLE = new URL('../../examples/approval/', import.meta.url).pathname;
const done = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
const TOOLS = `tools:
  tool.t.List: { args: [], effects: read, cases: [{ returns: [a, b] }] }
  tool.t.Send: { args: [to], cost: { usd: 0.01 }, otherwise: { returns: sent } }
`;
const SENDS = command('for each to in tool.t.List()', 'emit tool.t.Send(to)', 'endfor', 'emit tool.t.Send("c")', done);

/** A session on the command line whose turn waits for the approval of its plan. */
async function waiting(files: Readonly<Record<string, string>> = {}, drive: readonly string[] = []) {
  const cwd = folder({ 'tools.yaml': TOOLS, 'agent.txt': reply(SENDS), ...files });
  const run = (...args: readonly string[]) => within(args, { cwd });
  await run('keys', 'generate', 'keys.json');
  const store = [
    '--store',
    'jobs.db',
    '--keys',
    'keys.json',
    '--tools',
    drive.length > 0 ? join(EXAMPLE, 'tools.yaml') : 'tools.yaml',
  ];
  const agent = ['--agent', ...(drive.length > 0 ? drive : ['script:agent.txt']), '--approve', 'plan'];
  const loop = (sid: string) => run('loop', ...agent, ...store, '--sid', sid);
  const started = await loop('s');
  const shown = async (sid = 's') => (await run('sessions', 'show', sid, '--store', 'jobs.db')).stdout;
  const complete = (...args: readonly string[]) => run('sessions', 'complete', 's', 'plan', ...args, ...store);
  const resume = () => run('sessions', 'resume', 's', ...agent, ...store);
  return { cwd, run, loop, started, shown, complete, resume };
}

describe('issue 47: a plan is approved on the command line', () => {
  it('waits once, shows its grant, and goes on when it is approved', async () => {
    const here = await waiting();
    expect(here.started.stdout).toContain('Session s: SUSPENDED');
    expect(here.started.stdout).toContain('Answer with: neuroscript sessions complete s plan true --keys FILE --store jobs.db\n');
    expect(await here.shown()).toMatch(/ACTIONS +1 {2}command\n/);
    expect(await here.shown()).toMatch(
      /tool\.t\.send \(may change something\): to an item of what call 1\s+returned, any number of times/,
    );
    expect((await here.complete('true')).stdout).toContain('call plan of tool.t.send is completed; go on with');
    expect((await here.complete('true')).stderr).toContain('call plan was completed before');
    const resumed = await here.resume();
    expect(resumed).toMatchObject({ code: 0 });
    expect(resumed.stdout.match(/= "sent"/g)).toHaveLength(3);
    expect(resumed.stdout).toMatch(
      /approved {4}ACTIONS: 3 calls, 2 of which may change something[\s\S]* signed with host-fallback/,
    );
    expect(await here.run('replay', 's', '--store', 'jobs.db')).toMatchObject({ code: 0 });
    await here.loop('next');
    expect(await here.shown('next')).toContain('cost: at most $0.01, usually $0.01 a call (median of 3)');
  });

  it('makes no call that may change something when it is refused', async () => {
    const here = await waiting();
    expect(await here.complete('false')).toMatchObject({ code: 0 });
    const resumed = await here.resume();
    expect(resumed).toMatchObject({ code: 4 });
    expect(resumed.stdout).toContain('-- plan');
    expect(resumed.stdout).toContain('failed: a person refused the plan of this program (NS1003)');
    expect(resumed.stdout).not.toContain('sent');
  });

  it('takes a narrower grant, and none that is wider', async () => {
    const here = await waiting();
    const { waits } = JSON.parse((await here.run('sessions', 'list', '--store', 'jobs.db', '--json')).stdout);
    const grant: Grant = waits.plan;
    const write = (name: string, change: (calls: Grant['calls']) => Grant['calls']): void =>
      writeFileSync(join(here.cwd, name), grantText({ ...grant, calls: change(grant.calls) }));
    write('wider.yaml', (calls) => calls.map(({ when: _, ...call }) => call));
    expect(await here.complete('true', '--grant', 'wider.yaml')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a grant can only be narrowed: call'),
    });
    write('narrower.yaml', (calls) => calls.map((call) => (call.returned === undefined ? call : { ...call, times: 1 })));
    expect(await here.complete('true', '--grant', 'narrower.yaml')).toMatchObject({ code: 0 });
    const resumed = await here.resume();
    expect(resumed).toMatchObject({ code: 4 });
    expect(resumed.stdout).toMatch(/was\s+made\s+as\s+often/);
  });

  it('needs the keys of the session', async () => {
    const here = await waiting();
    expect(await here.run('sessions', 'complete', 's', 'plan', 'true', '--store', 'jobs.db')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the answer to a plan is signed: give --keys FILE'),
    });
    const all = await here.run('sessions', 'complete', '--where', 'tool:send', '--answer', 'true', '--store', 'jobs.db');
    expect(all).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('s: call plan of tool.t.send is open: the answer to a plan is signed'),
    });
    await using store = await SqliteStore.open(join(here.cwd, 'jobs.db'));
    await store.hosts.beat({ instance: 'i', owner: 'a', kids: ['host-primary', 'host-fallback'] }, 60_000);
    expect(await here.complete('true')).toMatchObject({ code: 0, stdout: expect.stringContaining('a host goes on with it') });
  });

  it('examples/approval: the grant that its page shows is approved, and the order is placed', async () => {
    const here = await waiting({}, [`script:${join(EXAMPLE, 'plan.txt')}`]);
    const page = readFileSync(join(EXAMPLE, 'README.md'), 'utf8');
    const lines = /```text\n( *call 2[\s\S]*?)```/.exec(page)?.[1]?.trimEnd().split('\n') ?? [];
    expect(lines).toHaveLength(3);
    const shown = await here.shown();
    for (const line of lines) expect(shown).toContain(line);
    await here.complete('true');
    expect((await here.resume()).stdout).toContain('placed as order 4711');
  });
});

describe('issue 47: a session on the command line', () => {
  it('--rehearse runs each program first against mocks, and asks for another one when it fails there', async () => {
    const cwd = folder({
      'tools.yaml': TOOLS,
      'mocks.yaml': 'tools: { tool.t.List: { args: [], effects: read, cases: [{ returns: [z] }] } }\n',
      'agent.mjs': `import { existsSync, writeFileSync } from 'node:fs';
const again = existsSync('again');
writeFileSync('again', '');
process.stdout.write(again ? ${JSON.stringify(reply(command('emit tool.t.List()', done)))} : ${JSON.stringify(reply(SENDS))});
`,
    });
    const agent = `command:${process.execPath} agent.mjs`;
    const run = (...args: readonly string[]) => within(args, { cwd });
    const ran = await run('loop', '--agent', agent, '--tools', 'tools.yaml', '--rehearse', 'mocks.yaml', '--store', 'none');
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.stdout).toContain('failed in its rehearsal, against mocks');
    expect(ran.stdout).toContain('the mocks of the rehearsal have no tool.t.Send');
    expect(ran.stdout).toContain('["a", "b"]');
    expect(await run('loop', '--agent', agent, '--rehearse', 'agent.mjs', '--store', 'none')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a rehearsal needs mocks or a recording'),
    });
  });

  it('the key bound of a configuration refuses calls outside of a grant', async () => {
    const grant = grantText({ version: 1, programs: [], calls: [{ number: 1, tool: 'tool.t.list' }] });
    const cwd = folder({
      'tools.yaml': TOOLS,
      'agent.txt': reply(SENDS),
      'list.grant.yaml': grant,
      'night.yaml': 'agent: script:agent.txt\ntools: tools.yaml\nbound: list.grant.yaml\n',
    });
    const ran = await within(['loop', '--config', 'night.yaml', '--store', 'none'], { cwd });
    expect(ran).toMatchObject({ code: 4 });
    expect(ran.stdout).toContain('outside of the grant: it has no call of tool.t.send');
    expect(await within(['loop', '--config', 'night.yaml', '--store', 'none', '--bound', 'x'], { cwd })).toMatchObject({
      code: 2,
    });
  });
});
