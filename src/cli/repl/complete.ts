import { RESERVED } from '../../../grammar/vocabulary/keywords.ts';
import { COMMAND_NAMES, isCommand } from './commands.ts';
import type { Session } from './session.ts';

/** Completes the word at the end of a line: commands of the prompt, or keywords, variables, procedures and tools in any letter
 * case. */
export function complete(
  line: string,
  { variables, definitions }: Pick<Session, 'variables' | 'definitions'>,
  tools: readonly string[],
): [string[], string] {
  if (isCommand(line)) {
    const name = line.trimStart();
    return [COMMAND_NAMES.filter((command) => command.startsWith(name)), name];
  }
  const word = lastWord(line);
  if (word === '') return [[], word];
  const names = variables.map(({ name }) => name);
  const procedures = definitions.flatMap(({ file }) => file.procedures);
  const all = new Set([...names, ...procedures, ...RESERVED, ...tools]);
  const start = word.toLowerCase();
  return [[...all].filter((known) => known.toLowerCase().startsWith(start)).sort(), word];
}

/** The name at the end of a line; it begins with a letter or an underscore. */
function lastWord(line: string): string {
  let from = line.length;
  while (from > 0 && /[\w.]/.test(line.charAt(from - 1))) from -= 1;
  return line.slice(from).replace(/^[\d.]+/, '');
}
