import { existsSync } from 'node:fs';
import { codesAndTitles } from '../commands/explain.ts';
import { readTools } from '../flags/setup.ts';
import { standardTools } from '../flags/standard.ts';
import { defaultStore, openStore } from '../flags/store.ts';
import type { Wanted, Word } from './request.ts';

/** What the shell adds to the words: the names of files or folders, or nothing. */
export type Paths = 'files' | 'folders' | 'none';

/** The values that can stand for a placeholder of the help. */
interface Source {
  readonly paths: Paths;
  readonly words?: (wanted: Wanted) => Promise<readonly Word[]>;
  /** Whether the words mean the same in any letter case. */
  readonly anyCase?: true;
}

const FREE: Source = { paths: 'none' };
const FILES: Source = { paths: 'files' };

/** Where the values of placeholders come from. Any other placeholder stands for a value that only the user knows. */
export const SOURCES: Readonly<Record<string, Source>> = {
  FILE: FILES,
  ENVELOPE: FILES,
  POLICY: FILES,
  STORE: FILES,
  'NAME=FILE': FILES,
  SERVER: FILES,
  COMMAND: FILES,
  DIR: { paths: 'folders' },
  SID: { paths: 'none', words: sessions },
  'SID:TURN': { paths: 'none', words: sessions },
  WHAT: { paths: 'files', words: sessions },
  CODE: { paths: 'none', words: codesAndTitles },
  NAME: { paths: 'none', words: async (wanted) => (wanted.command === 'tools' ? toolNames(wanted) : []), anyCase: true },
  TOOL: { paths: 'none', words: toolNames, anyCase: true },
  PATTERN: { paths: 'none', words: toolNames, anyCase: true },
  AGENT: { paths: 'none', words: agents },
};

export async function candidates(wanted: Wanted): Promise<{ readonly words: readonly Word[]; readonly paths: Paths }> {
  const source = wanted.value === null ? FREE : (SOURCES[wanted.value.name] ?? FREE);
  const { typed, before } = wanted;
  const known = (await source.words?.(wanted)) ?? [];
  const begins = (text: string): boolean =>
    source.anyCase ? text.toLowerCase().startsWith(typed.toLowerCase()) : text.startsWith(typed);
  const words = [
    ...wanted.words,
    ...known.filter(({ text }) => begins(text)).map(({ text, help }) => ({ text: before + text, help })),
  ];
  // The file of a script agent stands behind its kind.
  const isScript = wanted.value?.name === 'AGENT' && typed.startsWith('script:');
  return { words, paths: isScript ? 'files' : source.paths };
}

const MOST_SESSIONS = 1000;

async function sessions({ given }: Wanted): Promise<readonly Word[]> {
  const file = given.get('--store');
  // A shell that completes does not wait for a database.
  if (!existsSync(file ?? defaultStore())) return [];
  await using store = await openStore(file, { mustExist: true });
  return (await store.list({ limit: MOST_SESSIONS })).map(({ sid, status, subject }) => ({
    text: sid,
    help: `${status}  ${subject ?? ''}`,
  }));
}

/** The standard tools, and those of `--tools` on the same line, whose module this runs as the command would. */
async function toolNames({ given }: Wanted): Promise<readonly Word[]> {
  await using resources = new AsyncDisposableStack();
  const file = given.get('--tools');
  const own = file === undefined ? [] : await readTools(file).catch(() => []);
  const standard = await standardTools(undefined, resources);
  return [...own, ...standard].map(({ name, description }) => ({ text: name, help: description }));
}

async function agents(): Promise<readonly Word[]> {
  return [
    { text: 'script:', help: 'replay a transcript' },
    { text: 'command:', help: 'run a command for each reply' },
    { text: 'model:', help: 'a model behind --base-url' },
  ];
}
