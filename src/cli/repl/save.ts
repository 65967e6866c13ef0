import { join, parse as parsePath } from 'node:path';
import type { Source } from '../../wire/protocol.ts';
import type { Entry, Session } from './session.ts';

/**
 * The successful inputs as files for `run`, in this order: the definitions, with the last version of each procedure, and the
 * other inputs, each as a command block. A file holds one of the two, so definitions get a file of their own.
 */
export function savedFiles(name: string, { definitions, entries }: Pick<Session, 'definitions' | 'entries'>): Source[] {
  const library = definitions.map(({ source }) => `${source.text.trimEnd()}\n`);
  const commands = entries.map(block);
  const { dir, name: stem, ext } = parsePath(name);
  const beside = join(dir, `${stem}.lib${ext}`);
  return [
    ...(library.length === 0 ? [] : [{ name: commands.length === 0 ? name : beside, text: library.join('\n') }]),
    ...(commands.length === 0 ? [] : [{ name, text: commands.join('\n') }]),
  ];
}

/** Each input becomes a command block, so that error handlers and `return` keep their scope. */
function block({ text, typed }: Entry): string {
  if (typed === undefined) return `${text.trimEnd()}\n`;
  return `command\n${typed === 'expression' ? 'emit ' : ''}${text.trim()}\nendcommand\n`;
}
