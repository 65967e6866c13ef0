import { randomBytes } from 'node:crypto';
import { StoreError } from '../../sqlite/error.ts';
import { SqliteFile } from '../../sqlite/file.ts';
import { ANSWER_SECONDS, MOST_BYTES, MOST_WAITING, type ProgramStore } from './programs.ts';

const FORMAT = {
  name: 'store of programs that wait',
  // `NSwp`
  applicationId: 0x4e_53_77_70,
  ifOlder: 'remove it, since it holds nothing but programs that wait for answers',
  forms: [
    `CREATE TABLE signing (key BLOB NOT NULL) STRICT;
     CREATE TABLE programs (
       place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, since REAL NOT NULL, size INTEGER NOT NULL, program TEXT NOT NULL
     ) STRICT;`,
  ],
} as const;

/** The programs beyond the bounds: all but the latest. */
const TOO_MANY = `SELECT place FROM (
  SELECT place, row_number() OVER latest AS number, sum(size) OVER latest AS total FROM programs WINDOW latest AS (ORDER BY place DESC)
) WHERE number > ? OR total > ?`;

/** A SQLite file in which programs wait for the answers of users. They outlive the process, and several processes may share it. */
export class ProgramFile implements ProgramStore, Disposable {
  /** Secret that is created with the file and signs the states of waiting programs. */
  readonly key: Uint8Array;
  readonly #file: SqliteFile;

  private constructor(file: SqliteFile, key: Uint8Array) {
    this.#file = file;
    this.key = key;
  }

  /** Opens the file or makes it, for its owner only. Rejects with {@link StoreError} for a file that cannot be used. */
  static async open(path: string): Promise<ProgramFile> {
    const file = await SqliteFile.open(path, FORMAT);
    try {
      const key = file.write(() => {
        const known = file.get('SELECT key FROM signing')?.['key'];
        if (known instanceof Uint8Array) return known;
        const fresh = randomBytes(32);
        file.run('INSERT INTO signing (key) VALUES (?)', fresh);
        return fresh;
      });
      if (key.length !== 32) throw new StoreError('damaged', `${path} is damaged: its key has ${key.length} bytes`);
      return new ProgramFile(file, key);
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
  }

  /** Stores a program. Removes expired ones, and the oldest beyond the bounds. */
  put(id: string, program: string, now: number): void {
    const file = this.#file;
    file.write(() => {
      file.run('DELETE FROM programs WHERE since < ?', now - ANSWER_SECONDS * 1000);
      file.run('INSERT INTO programs (id, since, size, program) VALUES (?, ?, ?, ?)', id, now, program.length, program);
      file.run(`DELETE FROM programs WHERE place IN (${TOO_MANY})`, MOST_WAITING, MOST_BYTES);
    });
  }

  /** Removes and returns a program; null when there is none, or it has expired. */
  take(id: string, now: number): string | null {
    const file = this.#file;
    const row = file.write(() => {
      const found = file.get('SELECT program FROM programs WHERE id = ? AND since >= ?', id, now - ANSWER_SECONDS * 1000);
      file.run('DELETE FROM programs WHERE id = ?', id);
      return found;
    });
    return row === undefined ? null : String(row['program']);
  }

  /** Closes the file. Idempotent. */
  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}
