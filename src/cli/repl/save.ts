import { join, parse as parsePath } from 'node:path';
import type { Source } from '../../wire/protocol.ts';
import type { Entry, Session } from './session.ts';

/**
 * What succeeded as files that `run` takes in this order: definitions, each procedure as it was defined last, and every other
 * input as a command block of its own. A file holds either, so where there are both the definitions get one beside it.
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

/** A command block each: a handler guards what it guarded, and `return` ends what it ended. */
function block({ text, typed }: Entry): string {
  if (typed === undefined) return `${text.trimEnd()}\n`;
  return `command\n${typed === 'expression' ? 'emit ' : ''}${text.trim()}\nendcommand\n`;
}
