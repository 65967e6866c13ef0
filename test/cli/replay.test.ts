import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { folder } from './spawn.ts';
import { within } from './terminal.ts';

const schemaOf = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../docs/schemas/${name}.schema.json`, import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
for (const name of ['turn', 'export', 'replay']) ajv.addSchema(schemaOf(name));
const problems = (schema: string, text: string): unknown => {
  const validate = ajv.getSchema(`${schema}.schema.json`);
  return validate?.(JSON.parse(text)) ? [] : (validate?.errors ?? 'no schema');
};

const EXAMPLE = new URL('../../examples/approval/', import.meta.url).pathname;
const TOOLS = ['--tools', join(EXAMPLE, 'tools.yaml')];
const DRIVE = ['--agent', `script:${join(EXAMPLE, 'agent.txt')}`, ...TOOLS];

describe('a session that waits, on the command line', () => {
  it('is listed, completed, resumed, replayed, exported, redacted and tried out', async () => {
    const cwd = folder({ 'redact.yaml': 'tools: [tool.shop.*]\nkeys: [price]\nvalues: [order 4711]\n' });
    const store = ['--store', 'jobs.db'];
    const run = (...args: readonly string[]) => within(args, { cwd });
    const started = await run('loop', ...DRIVE, ...store, '--sid', 'order');
    expect(started).toMatchObject({ code: 0, stderr: '' });
    expect(started.stdout).toContain('Session order: SUSPENDED');
    expect(started.stdout).toContain(`sessions complete order --call 1.2 --result '"TEXT"' --store jobs.db, and the --tools`);
    expect((await run('sessions', 'list', ...store)).stdout).toContain('waits for call 1.2 of tool.human.approve');
    expect(JSON.parse((await run('sessions', 'list', ...store, '--json')).stdout)).toMatchObject({
      waits: { call: '1.2', completed: false },
    });

    const complete = (...args: readonly string[]) => run('sessions', 'complete', 'order', ...store, ...args);
    const refused: [readonly string[], string][] = [
      [
        ['--call', '1.2', '--result', '5', ...TOOLS],
        "call 1.2: tool 'tool.human.approve' returned something else than it promises",
      ],
      [['--call', '1.2', '--result', '"yes"'], 'call 1.2: the tool tool.human.approve is not there'],
      [['--call', '1.2', '--result', 'yes', ...TOOLS], '--result: it is not JSON; write a text as \'"text"\''],
      [['--call', '1.2', ...TOOLS], 'give exactly one of --result JSON and --error TEXT'],
    ];
    for (const [args, message] of refused) {
      const { code, stderr } = await complete(...args);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    }
    const done = await complete('--call', '1.2', '--result', '"yes"', ...DRIVE, '--json');
    expect(JSON.parse(done.stdout)).toMatchObject({ decision: 'DONE', turns: [{ turn: 1 }, { turn: 2 }] });
    const replay = await run('replay', '--all', ...store);
    expect(replay).toEqual({
      code: 0,
      stderr: '',
      stdout: 'order  turn 1  same\norder  turn 2  same\n1 session, 2 turns: 2 same\n',
    });
    expect(await run('sessions', 'export', 'order', ...store, '--out', 'order.json')).toMatchObject({ code: 0, stdout: '' });
    const text = readFileSync(join(cwd, 'order.json'), 'utf8');
    expect(problems('export', text)).toEqual([]);
    const elsewhere = await run('replay', 'order.json', '--json');
    expect(problems('replay', elsewhere.stdout)).toEqual([]);
    expect(JSON.parse(elsewhere.stdout)).toMatchObject({ sessions: [{ sid: 'order', ok: true }], counts: { same: 2 } });

    writeFileSync(join(cwd, 'changed.json'), text.replace('costs 12.5', 'costs 12.4'));
    const changed = await run('replay', 'changed.json');
    expect(changed.code).toBe(1);
    expect(changed.stdout).toContain(
      'first difference: line 1 of OUTPUT\n    recorded  draft d-17 costs 12.4\n    replayed  draft d-17 costs 12.5',
    );

    const redacted = await run('sessions', 'export', 'order', ...store, '--redact', 'redact.yaml');
    expect(problems('export', redacted.stdout)).toEqual([]);
    // The digits alone may be anywhere: in times, ids and hashes.
    expect(redacted.stdout).not.toContain('order 4711');
    writeFileSync(join(cwd, 'redacted.json'), redacted.stdout);
    expect((await run('replay', 'redacted.json')).stdout).toContain('2 verified');

    const tried = await run('replay', 'order', ...store, '--from-turn', '1', '--set', '1.2="no"');
    expect(tried).toMatchObject({ code: 0, stderr: '' });
    expect(tried.stdout).toContain('line 2 of OUTPUT: placed as order 4711 -> not placed: no');
    expect(tried.stdout).toContain('nothing was kept');
    expect((await run('replay', '--all', ...store)).stdout).toContain('2 turns: 2 same');
  }, 120_000);

  it('is completed and replayed by its id alone, where nothing was said of a store', async () => {
    const cwd = folder({});
    const run = (...args: readonly string[]) => within(args, { cwd, env: { XDG_STATE_HOME: join(cwd, 'state') } });
    expect((await run('loop', ...DRIVE, '--sid', 'order')).stdout).toContain('Session order: SUSPENDED');
    expect(await run('sessions', 'complete', 'order', '--call', '1.2', '--result', '"yes"', ...TOOLS)).toEqual({
      code: 0,
      stderr: '',
      stdout: 'order: call 1.2 of tool.human.approve is completed; go on with: neuroscript sessions resume order --agent AGENT\n',
    });
    expect(await run('sessions', 'resume', 'order', ...DRIVE)).toMatchObject({ code: 0, stderr: '' });
    expect((await run('replay', 'order')).stdout).toContain('1 session, 2 turns: 2 same');
    expect(await run('replay', 'nobody')).toMatchObject({ code: 2, stderr: 'neuroscript: session "nobody" is unknown\n' });
  }, 120_000);

  it('one damaged record or session hides none of the others', async () => {
    const cwd = folder({});
    const store = ['--store', 'jobs.db'];
    const run = (...args: readonly string[]) => within(args, { cwd });
    for (const sid of ['a', 'b']) {
      await run('loop', ...DRIVE, ...store, '--sid', sid);
      await run('sessions', 'complete', sid, ...store, '--call', '1.2', '--result', '"yes"', ...DRIVE);
    }
    const change = (sql: string): void => {
      const database = new DatabaseSync(join(cwd, 'jobs.db'));
      database.exec(sql);
      database.close();
    };
    change(`UPDATE turns SET record = '{' WHERE sid = 'a' AND turn = 2`);
    const lost = 'turn 2 of session "a" in the store cannot be read';
    const replay = await run('replay', '--all', ...store);
    expect(replay).toMatchObject({ code: 1, stderr: '' });
    expect(replay.stdout).toContain(`a  turn 1  same\na  ${lost}`);
    expect(replay.stdout).toContain('b  turn 2  same\n2 sessions, 3 turns: 3 same; 1 session is broken\n');
    expect(await run('replay', 'a', ...store, '--turn', '2')).toMatchObject({ code: 2, stderr: expect.stringContaining(lost) });
    const show = await run('sessions', 'show', 'a', ...store);
    expect(show).toMatchObject({ code: 1, stderr: expect.stringContaining(lost), stdout: expect.stringContaining('Turn 1') });

    change(`UPDATE sessions SET state = '{}' WHERE sid = 'b'`);
    const list = await run('sessions', 'list', ...store);
    expect(list).toMatchObject({ code: 0, stderr: '' });
    expect(list.stdout).toMatch(
      /^b {2}done {2}2 turns.* {2}DAMAGED: session "b" in the store cannot be read: sid.*\na {2}done {2}2 turns/,
    );
    const both = await run('replay', '--all', ...store, '--json');
    expect(both.code).toBe(1);
    expect(problems('replay', both.stdout)).toEqual([]);
    expect(JSON.parse(both.stdout)).toMatchObject({
      sessions: [
        { sid: 'a', ok: false, broken: [expect.stringContaining(lost)], turns: [{ turn: 1 }] },
        { sid: 'b', ok: false, broken: [expect.stringContaining('session "b" in the store')], turns: [{ turn: 1 }, { turn: 2 }] },
      ],
      counts: { same: 3 },
    });
  }, 120_000);

  it.each<[readonly string[], string]>([
    [['replay'], 'name sessions or files of "sessions export", or give --all'],
    [['replay', 'no.json'], 'cannot read no.json: there is no such file'],
    [['replay', 'nobody', '--store', 'missing.db'], 'missing.db cannot be opened: there is no such file'],
    [['sessions', 'export', '--store', 'no/new.db'], 'no/new.db cannot be opened: there is no such file'],
    [['replay', 'bad.json'], 'bad.json: it is not a file of sessions'],
    [['replay', 'bad.json', '--set', 'program=x'], '--set and --tools need --from-turn'],
    [['sessions', 'export', '--store', 'missing.db'], 'missing.db cannot be opened'],
  ])('%j is refused in a sentence', async (args, message) => {
    const { code, stderr } = await within(args, { cwd: folder({ 'bad.json': '{}' }) });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});
