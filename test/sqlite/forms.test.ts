import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SESSIONS } from '../../src/loop/sessions/tables.ts';
import { migrateFile, SqliteFile } from '../../src/sqlite/file.ts';
import { VALUES } from '../../stdlib-tools/storage/tables.ts';
import { tempFolder } from '../folder.ts';

const folder = tempFolder();

/** As a later version would have it: each session gets a colour, and those that are there are blue. */
const LATER = {
  ...SESSIONS,
  forms: [...SESSIONS.forms, `ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'`],
};

const ROW = `INSERT INTO sessions (sid, status, next_turn, created_at, updated_at, tenant, profile, engine, reader, nested, idle_since, state)
  VALUES ('s', 'open', 1, 0, 0, '', '', '', 1, 0, 0, '{}')`;

describe('a file of an earlier form', () => {
  it('is refused with the command that migrates it, migrated with all its rows, and then refused by the earlier version', async () => {
    const path = join(folder, 'sessions.db');
    {
      using file = await SqliteFile.open(path, SESSIONS);
      file.write(() => file.run(ROW));
    }
    const [now, next] = [SESSIONS.forms.length, LATER.forms.length];
    await expect(SqliteFile.open(path, LATER)).rejects.toMatchObject({
      detail: 'older',
      message: `${path} has form ${now}, and this version needs form ${next}: run neuroscript store migrate --store ${path}`,
    });
    expect(migrateFile(path, [VALUES, LATER])).toEqual({ from: now, to: next });
    expect(migrateFile(path, [VALUES, LATER])).toEqual({ from: next, to: next });
    using file = await SqliteFile.open(path, LATER);
    expect(file.all('SELECT sid, colour FROM sessions')).toMatchObject([{ sid: 's', colour: 'blue' }]);
    const newer = {
      detail: 'newer',
      message: `${path} was written by a newer version (form ${next}; this one knows ${now}): use that version, or a newer one`,
    };
    await expect(SqliteFile.open(path, SESSIONS)).rejects.toMatchObject(newer);
    expect(() => migrateFile(path, [SESSIONS])).toThrow(newer.message);
  });

  it('keeps its form and its rows when its migration fails', async () => {
    const path = join(folder, 'failed.db');
    {
      using file = await SqliteFile.open(path, SESSIONS);
      file.write(() => file.run(ROW));
    }
    const broken = { ...LATER, forms: [...LATER.forms, 'ALTER TABLE nothing ADD COLUMN colour TEXT'] };
    expect(() => migrateFile(path, [broken])).toThrow('cannot be used');
    using file = await SqliteFile.open(path, SESSIONS);
    expect(file.all('SELECT sid FROM sessions')).toMatchObject([{ sid: 's' }]);
  });

  it('is foreign when its tables are not those of its form', async () => {
    const path = join(folder, 'foreign.db');
    {
      using file = await SqliteFile.open(path, SESSIONS);
      file.run('CREATE TABLE more (a)');
    }
    expect(() => migrateFile(path, [LATER])).toThrow('its tables are not those of one');
  });
});
