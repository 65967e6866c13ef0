import { open, rm } from 'node:fs/promises';
import { printable } from '../../report/index.ts';
import { UsageError } from './failure.ts';
import { fileTrouble } from './input.ts';
import type { Terminal } from './terminal.ts';

/** The flag of commands that print one document. */
export const OUT = ['--out <FILE>', 'write to this file, which must not exist, in place of standard output'] as const;

/** Prints a document, or writes it to the file of {@link OUT}. Throws {@link UsageError} as {@link writeNew} does. */
export async function writeOut(text: string, out: string | undefined, terminal: Terminal): Promise<void> {
  if (out === undefined) await terminal.out.lineWhenReady(text.trimEnd());
  else await writeNew(out, `${text.trimEnd()}\n`);
}

/** Writes a file that must not exist yet, for its owner alone. Throws {@link UsageError}, and leaves no half of a file. */
export async function writeNew(file: string, text: string): Promise<void> {
  let made = false;
  try {
    await using handle = await open(file, 'wx', 0o600);
    made = true;
    await handle.writeFile(text);
  } catch (error) {
    // Half a file, as of a full disk, would refuse the next attempt.
    if (made) await rm(file, { force: true });
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw new UsageError(`cannot write ${printable(file)}: ${exists ? 'it exists already' : fileTrouble(error, 'make')}`);
  }
}

/** Writes files that must not exist yet, all of them or none. Throws {@link UsageError} as {@link writeNew} does. */
export async function writeAllNew(files: Readonly<Record<string, string>>): Promise<void> {
  const made: string[] = [];
  try {
    for (const [file, text] of Object.entries(files)) {
      await writeNew(file, text);
      made.push(file);
    }
  } catch (error) {
    for (const file of made) await rm(file, { force: true });
    throw error;
  }
}
