import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { Output } from '../../src/cli/terminal/output.ts';
import { paletteFor } from '../../src/report/index.ts';
import { SLOW } from '../groups.ts';
import { folder, linesOf, neuroscript, STATE } from './spawn.ts';

const BIN = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));
const PLAN = '{"tool":"tool.fs.Write","args":["/etc/motd","hé"]}';
/** RFC 8785 by hand: keys in order, no blanks. */
const CANONICAL = '{"args":["/etc/motd","hé"],"tool":"tool.fs.Write"}';
const HASH = createHash('sha256').update(CANONICAL).digest('hex');
const ID = 'b2831d73-2708-4f50-944b-7b54f11bfbb4';

const pending = (id = ID, plan = PLAN) => `{"id":"${id}","timestamp":"2026-01-15T12:00:00Z","plan":${plan}}\n`;
const read = (queue: string, name: string) => readFileSync(join(queue, name), 'utf8');
const verifier = (queue: string) => `'${process.execPath}' '${BIN}' gate verify --queue '${queue}'`;

interface Typed {
  readonly code: number;
  readonly shown: string;
  readonly stderr: string;
}

/** Runs the command in this process before a person who types `answer`. */
async function typing(argv: readonly string[], answer: string): Promise<Typed> {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  stdin.end(answer);
  const stream = new PassThrough();
  const errors = new PassThrough();
  const out = new Output(stream);
  const paint = paletteFor({}, {});
  const terminal = {
    stdin,
    screen: null,
    out,
    err: new Output(errors),
    paintOut: paint,
    paintErr: paint,
    outIsTTY: true,
    statusColumns: 0,
    interrupt: new AbortController().signal,
    onSignal: () => {},
    beforeFailure: () => {},
  };
  vi.stubEnv('XDG_STATE_HOME', STATE);
  const code = await runProgram(argv, terminal).finally(() => vi.unstubAllEnvs());
  stream.end();
  errors.end();
  return { code, shown: (await stream.toArray()).join(''), stderr: (await errors.toArray()).join('') };
}

describe('gate propose', () => {
  it('puts a plan into the queue and says under which UUID and hash', SLOW, async () => {
    const queue = folder({});
    const { code, stdout } = await neuroscript(['gate', 'propose', '-', '--queue', queue], { stdin: ` ${PLAN}\n` });
    expect(code).toBe(0);
    const [id = '', hash] = stdout.trimEnd().split(' ');
    expect(hash).toBe(HASH);
    const line = JSON.parse(read(queue, 'pending.jsonl'));
    expect(line).toEqual({ id, timestamp: expect.stringMatching(/^2\d{3}-.*Z$/), plan: JSON.parse(PLAN) });
    expect(existsSync(join(queue, 'approved.jsonl'))).toBe(false);
  });

  it.each([
    ['no JSON', 'deploy'],
    ['a key twice', '{"a":1,"a":2}'],
    ['a lone surrogate', '"\\ud800"'],
    ['a number that nobody keeps', '9007199254740993'],
  ])('refuses %s: it is not strict JSON', async (_, plan) => {
    const queue = folder({ plan });
    const { code, stderr } = await typing(['gate', 'propose', join(queue, 'plan'), '--queue', queue], '');
    expect(stderr).toMatch(/^neuroscript: \S+plan is not strict JSON: /);
    expect(code).toBe(2);
    expect(existsSync(join(queue, 'pending.jsonl'))).toBe(false);
  });
});

describe('gate approve', () => {
  it('lists what waits, and asks nothing', async () => {
    const queue = folder({ 'pending.jsonl': pending() + pending('11111111-2222-4333-8444-555555555555', '{}') });
    await typing(['gate', 'approve', ID, '--queue', queue, '--yes'], '');
    const { code, shown } = await typing(['gate', 'approve', '--queue', queue], '');
    const empty = createHash('sha256').update('{}').digest('hex');
    expect([code, shown]).toEqual([0, `11111111-2222-4333-8444-555555555555 ${empty} 2026-01-15T12:00:00Z\n`]);
  });

  it('shows the plan as canonical JSON with its hash, and appends a yes', SLOW, async () => {
    const queue = folder({ 'pending.jsonl': pending() });
    const { code, stdout } = await neuroscript(['gate', 'approve', ID.toUpperCase(), '--queue', queue, '--yes']);
    expect(code).toBe(0);
    expect(linesOf(stdout)).toEqual([CANONICAL, `intent  ${ID}, proposed 2026-01-15T12:00:00Z`, `sha256  ${HASH}`, 'approved']);
    expect(JSON.parse(read(queue, 'approved.jsonl'))).toEqual({ id: ID, timestamp: expect.any(String), hash: HASH });
    expect(read(queue, 'pending.jsonl')).toBe(pending());
  });

  it.each(['', 'y\n', 'YES\n', 'yes please\n', ' yes\n', 'no\nyes\n', '\n'])(
    'ARGO-8-2: guesses no yes: %j approves nothing',
    async (answer) => {
      const queue = folder({ 'pending.jsonl': pending() });
      const { code, shown } = await typing(['gate', 'approve', ID, '--queue', queue], answer);
      expect(code).toBe(1);
      expect(shown).toContain(CANONICAL);
      expect(shown).toContain('not approved');
      expect(existsSync(join(queue, 'approved.jsonl'))).toBe(false);
    },
  );

  it('takes the whole word from a person', async () => {
    const queue = folder({ 'pending.jsonl': pending() });
    expect(await typing(['gate', 'approve', ID, '--queue', queue], 'yes\n')).toMatchObject({ code: 0 });
    expect(JSON.parse(read(queue, 'approved.jsonl'))).toMatchObject({ id: ID, hash: HASH });
  });

  it('ARGO-8-2: asks nobody but a person: a pipe that says yes is none', SLOW, async () => {
    const queue = folder({ 'pending.jsonl': pending() });
    const { code, stderr } = await neuroscript(['gate', 'approve', ID, '--queue', queue], { stdin: 'yes\n' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot ask for approval/);
    expect(existsSync(join(queue, 'approved.jsonl'))).toBe(false);
  });

  it('paints nothing on the terminal that the plan brought along', async () => {
    const queue = folder({ 'pending.jsonl': pending(ID, JSON.stringify('\u001b[2Jsafe\u202e')) });
    const { shown } = await typing(['gate', 'approve', ID, '--queue', queue, '--yes'], '');
    expect(linesOf(shown)[0]).toBe('"\\u001b[2Jsafe\\u{202e}"');
  });

  it.each([
    ['an unknown plan', ['11111111-2222-4333-8444-555555555555', '--yes'], pending(), /plan \S+ is not in/],
    ['two plans of one id', [ID, '--yes'], pending() + pending(ID.toUpperCase(), '{}'), /is ambiguous: 2 plans have it/],
    ['a queue without plans', [ID, '--yes'], null, /there is no such file/],
    ['a line that is none', [ID, '--yes'], `${pending()}x\n`, /line 2/],
    ['a line that was cut off', [ID, '--yes'], pending().trimEnd(), /never finished/],
    ['yes to nothing', ['--yes'], pending(), /--yes needs the UUID/],
    ['an unknown flag', [ID, '--force'], pending(), /unknown option/],
  ] as const)('approves nothing for %s', async (_, argv, content, message) => {
    const queue = folder(content === null ? {} : { 'pending.jsonl': content });
    const { code, stderr } = await typing(['gate', 'approve', '--queue', queue, ...argv], 'yes\n');
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
    expect(existsSync(join(queue, 'approved.jsonl'))).toBe(false);
  });

  it('exits 1 for every no, also for wrong use', SLOW, async () => {
    expect(await neuroscript(['gate', 'approve', ID, '--force'])).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^neuroscript: [^\n]+\n$/),
    });
  });

  it('approves once', async () => {
    const queue = folder({ 'pending.jsonl': pending() });
    await typing(['gate', 'approve', ID, '--queue', queue, '--yes'], '');
    const { code, stderr } = await typing(['gate', 'approve', ID, '--queue', queue, '--yes'], '');
    expect(stderr).toContain('the intent was approved before (ERR_GATE_RECORD)');
    expect(code).toBe(2);
  });
});

describe('loop with a tool that requires approval', () => {
  const TOOLS = `tools:
  tool.plant.Open:
    args: [valve, percent]
    requiresApproval: true
    cases:
      - when: { valve: v1 }
        returns: opened
`;
  const ENVELOPE = `<<<NSENV:V3:START>>>
<<<NSENV:V3:USERDATA>>>
{"subject":"plant","fields":{}}
<<<NSENV:V3:ACTIONS>>>
command
  emit tool.plant.Open("v1", 50)
  emit tool.aeiou.magic("LOOP", {"action": "done"})
endcommand
<<<NSENV:V3:END>>>
`;

  it('ARGO-8-2: denied, proposed, approved, executed once, denied', SLOW, async () => {
    const files = folder({ 'tools.yaml': TOOLS, 'agent.txt': ENVELOPE });
    const queue = folder({});
    const loop = ['loop', '--store', 'none', '--agent', `script:${files}/agent.txt`, '--tools', `${files}/tools.yaml`];
    const denied = await typing([...loop, '--json'], '');
    expect(denied.code).toBe(4);
    const { error } = JSON.parse(denied.shown);
    expect(error.message).toMatch(/A human has to approve this, and none has$/);
    const plan = error.hint.replace('the plan is ', '');
    const { shown } = await typing(['gate', 'propose', '-', '--queue', queue], plan);
    const [id = '', hash = ''] = shown.trimEnd().split(' ');
    expect(hash).toBe(createHash('sha256').update('{"args":["v1",50],"tool":"tool.plant.open"}').digest('hex'));
    await typing(['gate', 'approve', id, '--queue', queue], 'yes\n');
    const approved = [...loop, '--intent', `${id}:${hash}`, '--queue', queue, '--verifier', verifier(queue)];
    expect(await neuroscript(approved)).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^\[OK\] Intent approved\n\[OK\] Intent eligible for execution\n$/),
    });
    expect(JSON.parse(read(queue, 'executed.jsonl'))).toMatchObject({ id, hash });
    const again = await neuroscript(approved);
    expect([again.code, again.stdout]).toEqual([4, expect.stringMatching(/\[ERROR\] Intent already\s+executed at/)]);
  });

  it('half an approval is wrong use', async () => {
    const files = folder({ 'tools.yaml': TOOLS, 'agent.txt': ENVELOPE });
    const loop = ['loop', '--store', 'none', '--agent', `script:${files}/agent.txt`];
    const wrong = (...flags: string[]) => expect(typing([...loop, ...flags], '')).resolves;
    const usage = (problem: string) => ({ code: 2, stderr: expect.stringContaining(problem) });
    await wrong('--intent', ID).toMatchObject(usage('an approval needs --intent, --queue and --verifier together'));
    await wrong('--intent', ID, '--queue', 'q', '--verifier', 'true').toMatchObject(usage('--intent must be UUID:HASH'));
    await wrong('--intent', ID, '--profile', 'v1').toMatchObject(usage('approvals cannot be combined with --profile v1'));
  });

  it('requireApproval: ACTIONS that nobody approved is not executed', async () => {
    const files = folder({ 'agent.txt': ENVELOPE, 'c.yaml': 'agent: script:agent.txt\nrequireApproval: true\n' });
    const { code, shown } = await typing(['loop', '--store', 'none', '--config', `${files}/c.yaml`], '');
    expect(code).toBe(4);
    expect(shown).toMatch(/A human has to approve this, and none has/);
  });
});

describe('gate execute', () => {
  /** An approved command. */
  async function approved(made: readonly string[] | ((queue: string) => readonly string[])) {
    const queue = folder({});
    const command = typeof made === 'function' ? made(queue) : made;
    const { shown } = await typing(['gate', 'propose', '-', '--queue', queue], JSON.stringify({ command }));
    const [id = '', hash = ''] = shown.trimEnd().split(' ');
    await typing(['gate', 'approve', id, '--queue', queue], 'yes\n');
    const run = (words = command) =>
      neuroscript(['gate', 'execute', id, hash, '--queue', queue, '--verifier', verifier(queue), '--', ...words]);
    return { queue, id, hash, run };
  }

  it('the whole way: proposed, approved, eligible, executed once', SLOW, async () => {
    const { queue, id, hash, run } = await approved(['echo', 'a  b', '$HOME']);
    const asked = ['gate', id, hash, '--queue', queue, '--verifier', verifier(queue)];
    expect((await neuroscript(asked)).code).toBe(0);
    expect(await run()).toMatchObject({ code: 0, stdout: 'a  b $HOME\n' });
    expect(JSON.parse(read(queue, 'executed.jsonl'))).toMatchObject({ id, hash });
    expect(await run()).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/\[ERROR\] Intent already executed at 2/),
    });
    expect((await neuroscript(asked)).stdout).toMatch(/already executed at/);
  });

  it('an approval of one command is not spent on another', async () => {
    const { queue, run } = await approved(['echo', 'one']);
    expect(await run(['echo', 'two'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/not what was approved/),
    });
    expect(existsSync(join(queue, 'executed.jsonl'))).toBe(false);
  });

  it('what ran and could not be recorded is told loudly, and keeps the lock', async () => {
    const { queue, run } = await approved((queue) => ['sh', '-c', 'printf cut > "$0"/executed.jsonl', queue]);
    expect(await run()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/what was approved RAN, but could NOT BE RECORDED: cannot append to executed.jsonl/),
    });
    expect(existsSync(join(queue, 'executed.lock'))).toBe(true);
  });

  it('a command that fails, or cannot be started, is not recorded and may be tried again', async () => {
    const folderOf = folder({});
    const { queue, run } = await approved(['sh', '-c', `test -e ${folderOf}/ready`]);
    expect(await run()).toMatchObject({ code: 1, stderr: expect.stringMatching(/Failed, and not recorded: .*exit code 1/) });
    expect(existsSync(join(queue, 'executed.jsonl'))).toBe(false);
    writeFileSync(join(folderOf, 'ready'), '');
    expect((await run()).code).toBe(0);
    const gone = await approved(['/nonexistent/command']);
    expect(await gone.run()).toMatchObject({ code: 1, stderr: expect.stringMatching(/ENOENT/) });
  });
});
