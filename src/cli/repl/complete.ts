import { RESERVED } from '../../../grammar/vocabulary/keywords.ts';
import { COMMAND_NAMES, isCommand } from './commands.ts';
import type { Session } from './session.ts';

/** Completes the word at the end of a line: commands of the prompt, or keywords, variables, procedures and tools. */
export function complete(
  line: string,
  { variables, definitions }: Pick<Session, 'variables' | 'definitions'>,
  tools: readonly string[],
): [string[], string] {
  if (isCommand(line)) {
    const name = line.trimStart();
    return [COMMAND_NAMES.filter((command) => command.startsWith(name)), name];
  }
  const word = /[A-Za-z_][\w.]*$/.exec(line)?.[0] ?? '';
  if (word === '') return [[], word];
  const names = variables.map(({ name }) => name);
  const procedures = definitions.flatMap(({ file }) => file.procedures);
  const all = new Set([...names, ...procedures, ...RESERVED, ...tools]);
  return [[...all].filter((known) => known.startsWith(word)).sort(), word];
}
