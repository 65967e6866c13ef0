import { expect, it } from 'vitest';
import { openSession, SqliteStore } from '../../src/loop/index.ts';
import { SLOW } from '../groups.ts';
import { command, folder } from './spawn.ts';
import { within } from './terminal.ts';

const envelope = (...lines: readonly string[]): string =>
  `<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{"subject":"s","fields":{}}\n<<<NSENV:V3:ACTIONS>>>\n${command(...lines)}<<<NSENV:V3:END>>>\n`;
const DONE = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';

it('issue 48: many sessions are opened from lines, listed by a query in columns, and answered together', {
  ...SLOW,
  timeout: 300_000,
}, async () => {
  const cwd = folder({
    'agent.txt': envelope('emit tool.human.Approve("ship it")', DONE),
    'tools.mjs': `export const tools = [{ name: 'tool.human.Approve', args: [{ name: 'what', type: 'string' }], returns: 'bool',
      run: (_, runtime) => runtime.pending({ reason: 'may I?', expiresIn: 600000 }) }];`,
    'c.yaml': 'agent: script:agent.txt\ntools: tools.mjs\nadmission: { tenant: 2, store: 4 }\n',
  });
  const store = ['--store', 's.db'];
  const lines = [
    '{"sid":"a","userdata":{"subject":"s","fields":{}}}',
    '{"sid":"b","tenant":"acme","userdata":{"subject":"s","fields":{}}}',
    '[]',
    '{"sid":"a","userdata":{"subject":"s","fields":{}}}',
    '{"sid":"c","tenant":"acme","userdata":{"subject":"s","fields":{}}}',
    '{"sid":"d","tenant":"acme","userdata":{"subject":"s","fields":{}}}',
  ];
  const opened = await within(['sessions', 'open', '--jsonl', '--config', 'c.yaml', ...store], {
    cwd,
    stdin: lines.join('\n'),
  });
  const answers: readonly { sid?: string; error?: { code: string; retryAfterMs?: number } }[] = opened.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(answers.map(({ sid, error }) => sid ?? error?.code)).toEqual([
    'a',
    'b',
    'ERR_USAGE',
    'ERR_SESSION_EXISTS',
    'c',
    'ERR_BUSY',
  ]);
  expect(answers[5]?.error).toMatchObject({ line: 6, retryAfterMs: 5000 });
  expect(opened.code).toBe(1);
  expect(await within(['sessions', 'open', 'd', '--tenant', 'acme', '--config', 'c.yaml', ...store], { cwd })).toMatchObject({
    code: 1,
    stderr: 'neuroscript: 2 sessions of tenant "acme" are open already; try again in 5 s (ERR_BUSY)\n',
  });
  for (const sid of ['a', 'b', 'c'])
    expect(await within(['sessions', 'resume', sid, '--config', 'c.yaml', ...store], { cwd })).toMatchObject({ code: 0 });
  const listed = await within(['sessions', 'list', '--where', 'tool:approve', '--tenant', 'acme', ...store], { cwd });
  expect(listed.stdout.split('\n').map((line) => line.slice(0, 19))).toEqual(['c  waiting  0 turns', 'b  waiting  0 turns', '']);
  const json = await within(['sessions', 'list', '--json', '--limit', '2', '--status', 'waiting', ...store], { cwd });
  expect(
    json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).sid),
  ).toEqual(['c', 'b']);
  expect(json.stderr).toMatch(/^neuroscript: looked back to .*Z; --limit N looks further, and --after '\d+-b' goes on there\n$/);
  expect(await within(['sessions', 'list', '--where', 'toll:x', ...store], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("has no 'toll:'"),
  });
  const answered = await within(
    ['sessions', 'complete', '--where', 'tool:human tenant:acme', '--answer', 'true', '--config', 'c.yaml', ...store],
    { cwd },
  );
  expect(answered).toMatchObject({
    code: 0,
    stdout: 'c: call 1.1 of tool.human.approve is completed\nb: call 1.1 of tool.human.approve is completed\n',
  });
  const wrong = await within(
    ['sessions', 'complete', '--where', '', '--answer', '"yes"', '--config', 'c.yaml', '--json', ...store],
    { cwd },
  );
  expect(JSON.parse(wrong.stdout)).toMatchObject({ sid: 'a', call: '1.1', problem: expect.stringContaining('bool') });
  expect(wrong.code).toBe(1);
  expect(await within(['sessions', 'complete', 'a', '--where', 'x', '--answer', '1', ...store], { cwd })).toMatchObject({
    code: 2,
  });
});

it('issue 48: a list reads a bounded number of sessions, says how far it looked, and goes on there', async () => {
  const cwd = folder({});
  const sids = Array.from({ length: 8 }, (_, at) => `s${at}`);
  {
    await using store = await SqliteStore.open(`${cwd}/s.db`);
    for (const [at, sid] of sids.entries()) await openSession(store, { subject: sid, fields: {} }, { sid, at });
  }
  const list = (...more: readonly string[]) => within(['sessions', 'list', '--store', 's.db', '--json', ...more], { cwd });
  const first = await list('--where', 's1', '--limit', '1', '--look', '2');
  expect(first).toMatchObject({
    stdout: '',
    stderr: "neuroscript: looked back to 1970-01-01T00:00:00.005Z; --look N looks further, and --after '5-s5' goes on there\n",
  });
  const second = await list('--where', 's1', '--limit', '1', '--after', '5-s5');
  expect(JSON.parse(second.stdout)).toMatchObject({ sid: 's1' });
  const page = await list('--limit', '3', '--after', '5-s5');
  expect(
    page.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).sid),
  ).toEqual(['s4', 's3', 's2']);
  expect(page.stderr).toContain("--limit N looks further, and --after '2-s2'");
  expect(await list('--limit', '2', '--after', '2-s2')).toMatchObject({ stderr: '' });
  expect(await list('--after', 's5')).toMatchObject({ code: 2, stderr: expect.stringContaining('--after takes') });
});

it('a list stands in columns, the latest change first, and a terminal breaks it between words', async () => {
  const cwd = folder({});
  {
    await using store = await SqliteStore.open(`${cwd}/s.db`);
    for (const [at, sid] of ['short', 'a-much-longer-id', 'mid-size'].entries())
      await openSession(store, { subject: 's', fields: {} }, { sid, at });
  }
  const { stdout } = await within(['sessions', 'list', '--store', 's.db'], { cwd });
  expect(stdout.split('\n').map((line) => line.slice(0, 31))).toEqual([
    'mid-size          open  0 turns',
    'a-much-longer-id  open  0 turns',
    'short             open  0 turns',
    '',
  ]);
  const shown = (await within(['sessions', 'list', '--store', 's.db'], { cwd, columns: 44 })).stdout;
  expect(shown.split('\n').every((line) => line.length <= 44)).toBe(true);
  expect(shown).toMatch(/^mid-size +open {2}0 turns\n {2}1970-01-01T00:00:00.002Z {2}subject s\n/);
});
