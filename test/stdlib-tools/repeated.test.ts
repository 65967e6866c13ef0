import { mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRuntime } from '../../src/runtime/index.ts';
import type { ToolDefinition } from '../../src/tools/index.ts';
import {
  fsTools,
  MemoryStorage,
  memoryTools,
  SqliteStorage,
  scratchTools,
  type VersionedStorage,
} from '../../stdlib-tools/index.ts';
import { tempFolder } from '../folder.ts';

const base = realpathSync(tempFolder());

/** Runs the same turn of a session as often as there are programs, as after the death of its process. */
async function attempts(tools: readonly ToolDefinition[], programs: readonly string[], between = () => {}): Promise<unknown[][]> {
  await using runtime = await createRuntime({ tools, policy: { allow: ['*'], grants: ['*:*:*'] }, concurrency: 1 });
  const emits: unknown[][] = [];
  for (const [index, program] of programs.entries()) {
    using turn = runtime.turn({ sessionId: 's', origin: 's', fence: index + 1, turnIndex: 1 });
    const fork = runtime.interpreter({ actor: { id: 'ada' } }).fork({ turn });
    const { emits: said, error } = await fork.execute(`command\n${program}\nendcommand`, { asTurn: true });
    emits.push(error === null ? [...said] : [error.code]);
    between();
  }
  return emits;
}

describe('a turn that runs again (issue 20): the standard tools have no second effect', () => {
  const storages: readonly (readonly [string, () => Promise<VersionedStorage>])[] = [
    ['memory', async () => new MemoryStorage()],
    ['SQLite', () => SqliteStorage.open(join(base, 'values.db'))],
  ];
  it.each(storages)('compare and set gives its first answer again, from %s', async (_, open) => {
    const storage = await open();
    const program = 'emit tool.memory.CAS("/a", 0, 1)\nemit tool.memory.CAS("/a", 1, 2)\nemit tool.scratch.PutCAS("k", 0, 1)';
    const [first, second] = await attempts([...memoryTools({ storage }), ...scratchTools({ storage })], [program, program]);
    expect(first).toEqual(['[true, 1]', '[true, 2]', '[true, 1]']);
    // The second call has overwritten what the first one wrote, so the first one finds no trace of itself: it has no effect either.
    expect(second).toEqual(['[false, 2]', '[true, 2]', '[true, 1]']);
  });

  it('another call in the same place is no repetition', async () => {
    const storage = new MemoryStorage();
    const programs = ['emit tool.memory.CAS("/a", 0, 1)', 'emit tool.memory.CAS("/a", 0, 2)'];
    expect(await attempts(memoryTools({ storage }), programs)).toEqual([['[true, 1]'], ['[false, 1]']]);
  });

  it('appends once, and completes what was appended in part', async () => {
    const root = mkdtempSync(join(base, 'fs-'));
    const file = join(root, 'log');
    writeFileSync(file, 'old\n');
    const program =
      'emit tool.fs.Append("log", "one\\n")\nemit tool.fs.Append("log", "two\\n")\nemit tool.fs.Append("d/new", "x")';
    const done = await attempts(fsTools({ directoryOf: async () => root }), [program, program, program, program], () => {
      if (readFileSync(file, 'utf8') === 'old\none\ntwo\n') writeFileSync(file, 'old\none\nt');
    });
    expect(done).toEqual(Array(4).fill(['OK', 'OK', 'OK']));
    writeFileSync(file, 'old\none\nt');
    await attempts(fsTools({ directoryOf: async () => root }), [program]);
    expect(readFileSync(file, 'utf8')).toBe('old\none\ntwo\n');
    expect(readFileSync(join(root, 'd/new'), 'utf8')).toBe('x');
  });

  it('makes and moves once, and says so again', async () => {
    const root = mkdtempSync(join(base, 'fs-'));
    writeFileSync(join(root, 'a'), 'a');
    const program = 'emit tool.fs.Mkdir("d")["status"]\nemit tool.fs.Move("a", "d/b")["message"]\nemit tool.fs.Delete("none")';
    const done = await attempts(fsTools({ directoryOf: async () => root }), [program, program]);
    expect(done).toEqual(Array(2).fill(['success', 'moved a to d/b', 'OK']));
    // Nothing of this shows to a program, and what existed before is still refused.
    expect(
      await attempts(fsTools({ directoryOf: async () => root }), ['emit len(tool.fs.List("."))', 'emit tool.fs.Mkdir("d/b")']),
    ).toEqual([['1'], ['NS24']]);
    expect(readdirSync(root).filter((name) => name.startsWith('.neuroscript-call-'))).toHaveLength(2);
  });
});
