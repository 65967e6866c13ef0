import { existsSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import { encodeUserdata } from '../../src/aeiou/index.ts';
import { SqliteStore } from '../../src/loop/sessions/sqlite.ts';
import { newSession, type SessionState } from '../../src/loop/sessions/store.ts';
import { tempFolder } from '../folder.ts';
import { within } from './terminal.ts';

const folder = tempFolder();
let agent = '';
beforeAll(() => {
  const turn = (action: string) =>
    `<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{}\n<<<NSENV:V3:ACTIONS>>>\ncommand\n  emit "${action} it"\n  emit tool.aeiou.magic("LOOP", {"action": "${action}"})\nendcommand\n<<<NSENV:V3:END>>>\n`;
  const file = join(folder, 'agent.txt');
  writeFileSync(file, turn('continue') + turn('done'));
  agent = `script:${file}`;
});

let files = 0;
const newPath = (name: string): string => join(folder, `${++files}-${name}`);

/** A store with one open session that nobody drives. */
async function withOpen(sid: string): Promise<string> {
  const path = newPath('store.db');
  using store = await SqliteStore.open(path);
  const userdata = encodeUserdata({ subject: 'test', fields: {} });
  await store.create(newSession(sid, userdata), 0);
  return path;
}

describe('loop --store and sessions', () => {
  it.each([
    'Postgres://app:hush@127.0.0.1:1/x',
    'POSTGRESQL://app:hush@127.0.0.1:1/x',
    'postgres:app:hush@127.0.0.1/x',
    'mysql://app:hush@127.0.0.1/x',
    'postgres+ssl://app:hush@127.0.0.1/x',
  ])('no command on the store %s prints its password', async (store) => {
    for (const args of [
      ['sessions', 'list'],
      ['store', 'status'],
      ['store', 'migrate'],
    ]) {
      const { code, stdout, stderr } = await within([...args, '--store', store], { cwd: folder });
      expect([code, `${stdout}${stderr}`.includes('hush')]).toEqual([2, false]);
    }
  });

  it.each([
    ['$.usage.cpuMs', 'null', 'usage.cpuMs'],
    ['$.output', '5', 'output'],
    ['$.candidates', '[7]', 'candidates.0'],
    ['$.journal', '[{"seq": 1, "kind": "tool", "outcome": null}]', 'journal.0'],
  ])('finding 14: a stored turn with another %s is named, and the others are shown', async (path, json, field) => {
    const store = newPath('store.db');
    expect(await within(['loop', '--agent', agent, '--sid', 's', '--store', store])).toMatchObject({ code: 0 });
    using database = new DatabaseSync(store);
    database.prepare('UPDATE turns SET record = json_set(record, ?, json(?)) WHERE turn = 1').run(path, json);
    for (const flags of [[], ['--brief'], ['--json']]) {
      const { code, stdout, stderr } = await within(['sessions', 'show', 's', '--store', store, ...flags]);
      expect(code).toBe(1);
      expect(stderr).toContain(`neuroscript: turn 1 of session s cannot be shown: it is malformed: ${field}`);
      expect(stdout).toMatch(/[tT]urn 2|"turn": ?2/);
    }
  });

  it('AL3-11-6: a session is kept with its turns, and its decisions are chained in the log', async () => {
    const [store, log] = [newPath('store.db'), newPath('log.jsonl')];
    const run = await within(['loop', '--agent', agent, '--sid', 's', '--store', store, '--log', log]);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const list = await within(['sessions', 'list', '--store', store, '--json']);
    expect(JSON.parse(list.stdout)).toMatchObject({ sid: 's', status: 'done', turns: 2, lease: null, owed: 0 });
    const line = (await within(['sessions', 'list', '--store', store])).stdout;
    expect(line).toMatch(/^s {2}done {2}2 turns {2}\S+Z {2}subject session {2}agent /);
    const show = await within(['sessions', 'show', 's', '--store', store]);
    expect(show.stdout).toMatch(/^s {2}done {2}2 turns {2}/);
    expect(show.stdout).toContain('Turn 2 of session s');
    const brief = await within(['sessions', 'show', 's', '--brief', '--store', store]);
    expect(brief.stdout.split('\n').slice(1)).toEqual(['turn 1  CONTINUE', 'turn 2  DONE', '']);
    const one = await within(['sessions', 'show', 's', '--turn', '2', '--store', store]);
    expect(one.stdout).toContain('Turn 2 of session s');
    expect(one.stdout).not.toContain('Turn 1 of session s');
    expect(await within(['sessions', 'show', 's', '--turn', '3', '--store', store])).toMatchObject({
      code: 2,
      stderr: 'neuroscript: session s has no decided turn 3 that can be read\n',
    });
    const exported = await within(['sessions', 'export', '--store', store]);
    expect(JSON.parse(exported.stdout)).toMatchObject({
      sessions: [{ sid: 's', turns: [{ version: 1, turn: 1 }, { turn: 2 }] }],
    });
    const verify = await within(['log', 'verify', log]);
    expect(verify.stdout).toMatch(/^2 lines, unbroken; head [0-9a-f]{64}\n$/);
    await writeFile(log, (await readFile(log, 'utf8')).replace('"decision":"DONE"', '"decision":"ABORT"'));
    const broken = await within(['log', 'verify', log]);
    expect(broken).toMatchObject({ code: 1, stdout: `${log}, line 2: it was changed: its hash does not fit\n` });
  });

  it('resume ends what a program of a dead process had asked for', async () => {
    const store = await withOpen('s');
    using file = await SqliteStore.open(store, { clock: { now: () => 0 } });
    const state = await file.read('s');
    if (state !== null) await file.create({ ...state, sid: 'asked', parent: { sid: 's', turn: 1, seq: 1 } }, 0);
    const resumed = await within(['sessions', 'resume', 's', '--store', store, '--agent', agent]);
    expect(resumed.code).toBe(0);
    expect(await file.read('asked')).toMatchObject({ status: 'halted', reason: 'ERR_INTERRUPTED' });
  });

  it('resume drives an open session to its end; ended and unknown ones are refused', async () => {
    const store = await withOpen('s');
    const resume = (sid: string) => within(['sessions', 'resume', sid, '--store', store, '--agent', agent, '--json']);
    const first = await resume('s');
    expect(first.code).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({ sid: 's', decision: 'DONE', turns: [{ turn: 1 }, { turn: 2 }] });
    expect(await resume('s')).toMatchObject({ code: 2, stderr: 'neuroscript: session "s" is done\n' });
    expect(await resume('t')).toMatchObject({ code: 2, stderr: 'neuroscript: session "t" is unknown\n' });
    const again = await within(['loop', '--agent', agent, '--sid', 's', '--store', store]);
    expect(again).toMatchObject({ code: 2, stderr: 'neuroscript: session "s" exists already\n' });
  });

  it('cancel ends an open session', async () => {
    const store = await withOpen('s');
    const cancel = () => within(['sessions', 'cancel', 's', '--store', store]);
    expect(await cancel()).toMatchObject({ code: 0, stdout: 's: cancelled\n' });
    expect(await cancel()).toMatchObject({ code: 2, stderr: 'neuroscript: session s has ended already\n' });
  });

  it('cancel ends an open session that cannot be read, and says what is wrong with it', async () => {
    const store = await withOpen('s');
    using database = new DatabaseSync(store);
    database.exec(`UPDATE sessions SET state = 'x'`);
    const { code, stdout, stderr } = await within(['sessions', 'cancel', 's', '--store', store]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 's: cancelled\n' });
    expect(stderr).toMatch(
      /^neuroscript: session "s" in the store cannot be read: .*; it ended without a record of a turn under way, /,
    );
    const show = await within(['sessions', 'show', 's', '--store', store, '--json']);
    expect(JSON.parse(show.stdout)).toMatchObject({ status: 'halted', reason: 'ERR_CANCELLED', damaged: expect.any(String) });
    expect(database.prepare('SELECT state FROM sessions').get()).toEqual({ state: 'x' });
    const again = await within(['sessions', 'cancel', 's', '--store', store]);
    expect(again).toMatchObject({ code: 2, stderr: 'neuroscript: session s has ended already\n' });
    expect(await within(['sessions', 'erase', 's', '--store', store])).toMatchObject({ code: 0 });
  });

  it('a lease that lies far ahead is told, and its owner, once it has ended, can be named to cancel', async () => {
    const path = await withOpen('s');
    using store = await SqliteStore.open(path, { clock: { now: () => Date.now() + 3_600_000 } });
    await store.claim('s', { owner: 'dead host', ms: 15_000 });
    const command = (...words: readonly string[]) => within(['sessions', ...words, '--store', path]);
    const far =
      /^neuroscript: session s is held for 60 more minutes, .*"sessions cancel" with --owner "dead host" ends the session now\n$/;
    for (const words of [['list'], ['show', 's'], ['show', 's', '--json'], ['cancel', 's'], ['cancel', 's', '--owner', 'other']])
      expect(await command(...words)).toMatchObject({ code: 0, stderr: expect.stringMatching(far) });
    expect((await store.summary('s'))?.status).toBe('open');
    expect(await command('cancel', 's', '--owner', 'dead host')).toMatchObject({ code: 0, stdout: 's: cancelled\n', stderr: '' });
    expect(await store.read('s')).toMatchObject({ status: 'halted', reason: 'ERR_CANCELLED' });
  });

  it('a lease of the usual length is nothing to tell', async () => {
    const path = await withOpen('s');
    using store = await SqliteStore.open(path);
    await store.claim('s', { owner: 'host', ms: 15_000 });
    expect(await within(['sessions', 'list', '--store', path])).toMatchObject({ code: 0, stderr: '' });
  });

  it('prune removes what ended long ago, says what, and says with --dry-run what it would', async () => {
    const path = await withOpen('open');
    using store = await SqliteStore.open(path);
    const ended = { ...(await store.read('open')), status: 'done' } as SessionState;
    await store.create({ ...ended, sid: 'old' }, Date.now() - 3 * 3_600_000);
    await store.create({ ...ended, sid: 'young' }, Date.now() - 3_600_000);
    const prune = (...flags: readonly string[]) => within(['sessions', 'prune', '--store', path, ...flags]);
    const left = async () => (await store.list()).map(({ sid }) => sid);
    const dry = await prune('--older-than', '2h', '--dry-run');
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.stdout).toMatch(/^old {2}done {2}0 turns {2}\S+Z {2}subject test\n1 session would be removed\n$/);
    expect(await left()).toEqual(['old', 'open', 'young']);
    const removed = await prune('--older-than', '2h', '--json');
    expect(JSON.parse(removed.stdout)).toMatchObject({ dryRun: false, removed: [{ sid: 'old', status: 'done' }] });
    expect(await left()).toEqual(['open', 'young']);
    expect(await prune('--older-than', '2h')).toMatchObject({ code: 0, stdout: '0 sessions removed\n' });
    expect(await prune('--older-than', 'soon')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--older-than 'soon' is not an age; write an age such as 30d"),
    });
    expect(await prune()).toMatchObject({ code: 2, stderr: expect.stringContaining('--older-than') });
    expect(await left()).toEqual(['open', 'young']);
  });

  it('a file that is no store is refused, and none is made by looking', async () => {
    const none = newPath('none.db');
    expect(await within(['sessions', 'list', '--store', none])).toMatchObject({ code: 2 });
    expect(existsSync(none)).toBe(false);
    expect((await within(['sessions', 'list', '--store', join(folder, 'agent.txt')])).stderr).toContain(
      'is not a store of sessions',
    );
  });

  it('log verify tells a log that was cut off from a whole one by its head', async () => {
    const log = newPath('log.jsonl');
    await within(['loop', '--agent', agent, '--log', log]);
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
    const head: unknown = JSON.parse(lines[1] ?? '').hash;
    expect((await within(['log', 'verify', log, '--head', String(head)])).code).toBe(0);
    await writeFile(log, `${lines[0]}\n`);
    expect((await within(['log', 'verify', log])).code).toBe(0);
    expect(await within(['log', 'verify', log, '--head', String(head)])).toMatchObject({ code: 1 });
  });
});
