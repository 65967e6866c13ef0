import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileLog, MemoryLog, MemoryStore, SqliteStore } from '../../../src/loop/index.ts';
import { logContract, type MakeLog, type MakeStore, storeContract } from '../../../src/testing/index.ts';
import { tempFolder } from '../../folder.ts';
import { titleOf } from './titles.ts';

const folder = tempFolder();
let files = 0;

/** The cases that prove a requirement. */
const PROVED = [
  'AL3-11-6: keeps turn, state, used ids and what is owed to the log together, and the turn exactly once',
  'AL3-9-1: an end between two turns is owed to the log like a turn, until it is there',
  'AL3-3-1: a session belongs to one owner at a time, until its lease ends or is given up',
  'A3-11.3-1: used ids that are too old, or of a session that has ended, are forgotten',
];

const onSqlite: MakeStore = async (options) => {
  const store = await SqliteStore.open(join(folder, `${++files}.db`), options);
  return { store, close: async () => store[Symbol.dispose]() };
};

const stores: readonly (readonly [string, MakeStore])[] = [
  ['MemoryStore', (options) => ({ store: new MemoryStore(options) })],
  ['SqliteStore', onSqlite],
];

describe.each(stores)('%s', (_, make) => {
  for (const { name, run } of storeContract(make)) it(titleOf(name, PROVED), run);
});

const logs: readonly (readonly [string, MakeLog])[] = [
  ['MemoryLog', () => new MemoryLog()],
  ['FileLog', () => new FileLog(join(folder, `${++files}.log`))],
  ['the log of a MemoryStore', () => new MemoryStore().log],
];

describe.each(logs)('%s', (_, make) => {
  for (const { name, run } of logContract(make)) it(name, run);
});

it('each case that proves a requirement is there', () => {
  const names = storeContract(onSqlite).map(({ name }) => name);
  for (const title of PROVED) expect(names).toContain(title.slice(title.indexOf(': ') + 2));
});
