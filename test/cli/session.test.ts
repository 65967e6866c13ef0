import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SLOW } from '../groups.ts';
import { command, folder, linesOf, neuroscript, pressControlC } from './spawn.ts';
import { within } from './terminal.ts';

const USERDATA = '{"subject":"s","fields":{}}';

function envelope(actions: string): string {
  const section = (name: string) => `<<<NSENV:V3:${name}>>>`;
  return `${[section('START'), section('USERDATA'), USERDATA, section('ACTIONS'), actions.trimEnd(), section('END')].join('\n')}\n`;
}

const magic = (action: string) => `emit tool.aeiou.magic("LOOP", {"action": "${action}"})`;

describe('turn', () => {
  it.each([
    ['continue', 'CONTINUE', 0],
    ['done', 'DONE', 0],
    ['abort', 'ABORT', 10],
  ])('a valid token that asks for %s decides %s, exit %i', async (action, decision, code) => {
    const stdin = envelope(command('emit "said"', 'whisper self, "noted"', magic(action)));
    const ended = await within(['turn', '-', '--sid', 's1', '--turn', '3', '--json'], { stdin });
    expect(ended).toMatchObject({ code, stderr: '' });
    const record = JSON.parse(ended.stdout);
    expect(record).toMatchObject({ sid: 's1', turn: 3, decision, reason: null, scratchpad: 'noted\n', lints: [], error: null });
    expect(linesOf(record.output)[0]).toBe('said');
    expect(record.candidates).toEqual([{ line: 2, ok: true, code: null }]);
    const keys = [
      'agent',
      'candidates',
      'decision',
      'error',
      'jti',
      'kid',
      'lints',
      'output',
      'reason',
      'scratchpad',
      'sid',
      'turn',
      'usage',
    ];
    expect(Object.keys(record).sort()).toEqual(keys);
  });

  it.each([
    ['no token', command('emit 1'), [], 'ERR_TOKEN_MISSING', 11],
    ['a program that fails', command('fail "x"'), [], 'ERR_EXEC', 11],
    ['a program that cannot be parsed', command('let x = 1'), [], 'ERR_ACTIONS_INVALID', 11],
    ['CPU time', command('while true', 'set x = 1', 'endwhile'), ['--cpu', '50ms'], 'ERR_QUOTA', 5],
    ['too long a line', command('emit "x" * 9000'), [], 'ERR_ENV_SIZE', 5],
    ['too much output', command('emit "12345678901"'), ['--output', '10B'], 'ERR_ENV_SIZE', 5],
    ['elapsed time', command('call tool.t.Never()'), ['--wall', '150ms', '--tools', 't.yaml'], 'ERR_TIMEOUT', 124],
    ['policy', command('call tool.t.Never()'), ['--tools', 't.yaml', '--policy', 'none.yaml'], 'ERR_POLICY', 4],
  ])('%s halts', async (_name, actions, flags, reason, code) => {
    const cwd = folder({
      't.yaml': 'tools: { tool.t.Never: { args: [], cases: [{ returns: 1, delayMs: 3600000 }] } }\n',
      'none.yaml': 'allow: []\n',
    });
    const ended = await within(['turn', '-', ...flags, '--json'], { stdin: envelope(actions), cwd });
    expect(ended).toMatchObject({ code, stderr: '' });
    expect(JSON.parse(ended.stdout)).toMatchObject({ decision: 'HALT', reason });
  });

  it('what is no envelope halts with the reason of the protocol', async () => {
    for (const stdin of ['', 'hello\n', Buffer.from([0xff, 0xfe])]) {
      const ended = await within(['turn', '-', '--json'], { stdin });
      expect(ended).toMatchObject({ code: 11, stderr: '' });
      expect(JSON.parse(ended.stdout).reason).toMatch(/^ERR_ENV_/);
    }
  });

  it('is repeated byte for byte with --now, --ids and --keys', async () => {
    const cwd = folder({ 'e.txt': envelope(command('emit "x"', magic('done'))) });
    await within(['keys', 'generate', 'k.json'], { cwd });
    const args = ['turn', 'e.txt', '--now', '1760000000', '--ids', 'seed', '--keys', 'k.json', '--json'];
    const [one, two] = [await within(args, { cwd }), await within(args, { cwd })];
    const [first, second] = [JSON.parse(one.stdout), JSON.parse(two.stdout)];
    expect(first).toMatchObject({ decision: 'DONE', kid: 'host-primary' });
    expect({ ...second, usage: null }).toEqual({ ...first, usage: null });
    const other = await within([...args, '--nonce', 'AAAAAAAAAAAAAAAAAAAAAA'], { cwd });
    expect(JSON.parse(other.stdout).output).not.toBe(first.output);
  });

  it('refuses sizes that the protocol does not allow', async () => {
    const ended = await within(['turn', '-', '--output', '1MB']);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('the maximum is 512KB');
  });

  it('explains itself to a person', async () => {
    const ended = await within(['turn', '-'], { stdin: envelope(command('emit "said"', magic('done'))) });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toContain('DONE');
    expect(ended.stdout).toContain('said');
    expect(ended.stdout).not.toContain('\u001b');
  });
});

describe('loop', () => {
  const demo = fileURLToPath(new URL('../../examples/plan-apply/', import.meta.url));
  const args = ['loop', '--agent', 'script:agent.txt', '--tools', 'tools.yaml', '--userdata', 'userdata.json'];

  it('the demonstration ends DONE after turn 2 and says what was written', async () => {
    const ended = await within(args, { cwd: demo });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/DONE after 2 turns/);
    expect(ended.stdout).toContain('Applied 1 op: /ingest/queue/x is now "taken" (version 8).');
    expect(ended.stdout).toContain('tool.memory.cas');
    expect(Math.max(...linesOf(ended.stdout).map((line) => [...line].length))).toBeLessThanOrEqual(80);
  });

  it('issue 50: --userdata takes JSON, a file or standard input, in every command that has it', async () => {
    const job = '{"subject": "job", "fields": {}}';
    const cwd = folder({
      'job.json': job,
      'agent.txt': envelope(command('emit userdata["subject"]', magic('done'))),
      'odd.json': '[1]',
    });
    const begins = [
      ['loop', '--agent', 'script:agent.txt', '--store', 'none'],
      ['sessions', 'open', '--store', 's.db'],
    ];
    for (const begin of begins) {
      for (const given of [job, ` ${job}`, 'job.json'])
        expect(await within([...begin, '--userdata', given], { cwd })).toMatchObject({ code: 0, stderr: '' });
      expect(await within([...begin, '--userdata', '-'], { cwd, stdin: job })).toMatchObject({ code: 0, stderr: '' });
      const odd = await within([...begin, '--userdata', 'odd.json'], { cwd });
      expect(odd).toMatchObject({ code: 2, stderr: 'neuroscript: odd.json: USERDATA must be a JSON object\n' });
      expect(await within([...begin, '--userdata', '{"subject"'], { cwd })).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^neuroscript: --userdata: /),
      });
    }
    const listed = await within(['sessions', 'list', '--store', 's.db', '--json'], { cwd });
    expect(linesOf(listed.stdout)).toHaveLength(4);
    expect(listed.stdout.match(/"subject":"job"/g)).toHaveLength(4);
  });

  it('A3-3.3-9: what a turn whispers is printed by "sessions show" for the operator, never by "turn" and "loop"', async () => {
    const whispering = (action: string) => command('whisper self, "no" + "ted"', 'emit "sa" + "id"', magic(action));
    const turns = envelope(whispering('continue')) + envelope(whispering('done'));
    const cwd = folder({ 'agent.txt': turns });
    const printed = [await within(['turn', '-'], { stdin: envelope(whispering('done')) })];
    for (const profile of [[], ['--profile', 'v1']])
      printed.push(await within(['loop', '--agent', 'script:agent.txt', '--store', 'none', ...profile], { cwd }));
    printed.push(await within(['loop', '--agent', 'script:agent.txt', '--sid', 's', '--store', 's.db'], { cwd }));
    for (const { stdout, stderr } of printed) {
      expect(stdout).toContain('said');
      expect(stdout + stderr).not.toMatch(/noted|SCRATCHPAD/);
    }
    const { stdout } = await within(['sessions', 'show', 's', '--store', 's.db'], { cwd });
    expect(stdout.match(/SCRATCHPAD {2}(none|noted)/g)).toEqual(
      ['none', 'noted', 'noted', 'noted'].map((text) => `SCRATCHPAD  ${text}`),
    );
  });

  it('--json prints one object for the session', async () => {
    const ended = await within([...args, '--json', '--sid', 'demo'], { cwd: demo });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const session = JSON.parse(ended.stdout);
    expect(session).toMatchObject({ sid: 'demo', decision: 'DONE', reason: null, error: null });
    expect(session.turns.map((turn: { turn: number; decision: string }) => [turn.turn, turn.decision])).toEqual([
      [1, 'CONTINUE'],
      [2, 'DONE'],
    ]);
  });

  it('stops after --max-turns', async () => {
    const ended = await within([...args, '--max-turns', '1', '--json'], { cwd: demo });
    expect(ended.code).toBe(11);
    expect(JSON.parse(ended.stdout)).toMatchObject({ decision: 'HALT', reason: 'ERR_MAX_TURNS' });
  });

  it('--log appends one JSON line per decision, readable by its owner alone', async () => {
    const cwd = folder({});
    for (const sid of ['one', 'two'])
      await within([...args, '--sid', sid, '--log', join(cwd, 'log.jsonl'), '--json'], { cwd: demo });
    const entries = linesOf(readFileSync(join(cwd, 'log.jsonl'), 'utf8')).map((line) => JSON.parse(line));
    expect(entries.map(({ SID, turn_index, decision }) => [SID, turn_index, decision])).toEqual([
      ['one', 1, 'CONTINUE'],
      ['one', 2, 'DONE'],
      ['two', 1, 'CONTINUE'],
      ['two', 2, 'DONE'],
    ]);
    expect(statSync(join(cwd, 'log.jsonl')).mode & 0o777).toBe(0o600);
  });

  it('a log that cannot be written is found out before anything runs', async () => {
    const ended = await within([...args, '--log', '.'], { cwd: demo });
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: 'neuroscript: cannot append to .: it is a folder\n' });
    const device = await within([...args, '--log', '/dev/null'], { cwd: demo });
    expect(device).toMatchObject({ code: 2, stderr: 'neuroscript: cannot append to /dev/null: it is not an ordinary file\n' });
  });

  it('Ctrl-C halts the session: exit 130, the result is still printed', SLOW, async () => {
    const cwd = folder({
      'agent.txt': envelope(command(magic('continue'))) + envelope(command('call tool.t.Never()')),
      't.yaml': 'tools: { tool.t.Never: { args: [], cases: [{ returns: 1, delayMs: 3600000 }] } }\n',
    });
    let turns = 0;
    const ended = await neuroscript(['loop', '--agent', 'script:agent.txt', '--tools', 't.yaml'], {
      cwd,
      onStdout: (_text, child) => {
        turns += 1;
        if (turns === 1) setTimeout(() => pressControlC(child), 300);
      },
    });
    expect(ended).toMatchObject({ code: 130, stderr: '' });
    expect(ended.stdout).toMatch(/HALT after 2 turns/);
    expect(ended.stdout).toContain('ERR_CANCELLED');
  });
});

describe('keys', () => {
  it('generate makes a file for its owner alone, and never overwrites one; list shows public halves', async () => {
    const cwd = folder({});
    const made = await within(['keys', 'generate', 'k.json', '--name', 'prod'], { cwd });
    expect(made).toEqual({ code: 0, stdout: 'k.json: prod-primary (primary), prod-fallback (fallback)\n', stderr: '' });
    expect(statSync(join(cwd, 'k.json')).mode & 0o777).toBe(0o600);
    const seeds = JSON.parse(readFileSync(join(cwd, 'k.json'), 'utf8')).keys.map((key: { seed: string }) => key.seed);
    const listed = await within(['keys', 'list', 'k.json', '--json'], { cwd });
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { kid: 'prod-primary', role: 'primary', alg: 'Ed25519', canSign: true },
      { kid: 'prod-fallback', role: 'fallback', alg: 'Ed25519', canSign: true },
    ]);
    for (const seed of seeds) expect(listed.stdout).not.toContain(seed);
    const again = await within(['keys', 'generate', 'k.json'], { cwd });
    expect(again).toMatchObject({ code: 2, stderr: 'neuroscript: k.json exists already; keys are never overwritten\n' });
  });

  it.each([
    [['keys', 'generate', 'k.json', '--name', 'a b'], /kid/],
    [['keys', 'generate', 'no/such/k.json'], /cannot be written/],
    [['keys', 'list', 'missing.json'], /missing\.json/],
    [['turn', '-', '--keys', 'open.json'], /chmod 600/],
  ])('%j is refused in one sentence', async (args, says) => {
    const cwd = folder({ 'open.json': '{"version":1,"keys":[]}' });
    const ended = await within(args, { cwd });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(ended.stderr)).toHaveLength(1);
    expect(ended.stderr).toMatch(says);
  });
});

describe('tools', () => {
  it('lists what programs can call', async () => {
    const cwd = folder({
      't.yaml':
        'tools:\n  tool.a.Add:\n    description: Adds two numbers.\n    args: [{ name: x, type: int }, { name: y, type: int, required: false }]\n    cases: [{ returns: 1 }]\n',
    });
    const ended = await within(['tools', 'tool.a.*', '--tools', 't.yaml'], { cwd });
    expect(ended).toEqual({ code: 0, stdout: 'tool.a.Add(x: int, y?: int)\n    Adds two numbers.\n', stderr: '' });
  });
});

describe('explain', () => {
  it('prints the page of a code, in any spelling', async () => {
    for (const code of ['NS14', 'ns14', '14']) {
      const ended = await within(['explain', code]);
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      expect(ended.stdout).toMatch(/^# NS14/);
    }
  });

  it('lists all codes in their order', async () => {
    const lines = linesOf((await within(['explain'])).stdout);
    const codes = lines.map((line) => line.split(' ')[0]);
    expect(codes.indexOf('NS9')).toBeLessThan(codes.indexOf('NS10'));
    expect(codes).toContain('ERR_QUOTA');
    expect(lines).toContain('NS14                       DivisionByZero');
    expect(lines.find((line) => line.startsWith('LINT_COMMENT_TRAP'))).toMatch(/ an operator that begins a comment$/);
    expect(lines.filter((line) => !/^\w+ +\S/.test(line) || line.length > 100)).toEqual([]);
    const { stdout } = await within(['explain', '--json']);
    expect(JSON.parse(stdout).map(({ code }: { readonly code: string }) => code)).toEqual(codes);
  });

  it('knows the names that programs see, and prints JSON (19-6)', async () => {
    expect((await within(['explain', 'Type'])).stdout).toMatch(/^# NS7: Type/);
    const { stdout } = await within(['explain', 'divisionbyzero', '--json']);
    expect(JSON.parse(stdout)).toEqual({ code: 'NS14', title: 'DivisionByZero', page: expect.stringMatching(/^# NS14/) });
    expect((await within(['explain', 'Tpye'])).stderr).toContain('did you mean Type?');
    expect((await within(['explain', 'NOPE'])).stderr).toContain("unknown error code 'NOPE'; 'neuroscript explain' lists all");
  });

  it('fits a terminal of 80 columns, but for programs and tables (19-16)', async () => {
    for (const code of ['ERR_QUOTA', 'NS1003', 'LINT_COMMENT_TRAP']) {
      const lines = linesOf((await within(['explain', code])).stdout);
      expect(lines.filter((line) => line.length > 80 && !line.startsWith('|'))).toEqual([]);
    }
  });
});
