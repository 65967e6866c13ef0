/** Names that are reserved here: a variable that has one gets another, and `tools.` is `tool.`. */
import { BUILTINS } from '../vocabulary/builtins.ts';
import { KEYWORDS } from '../vocabulary/keywords.ts';
import type { Word } from './lexer.ts';

/** Keywords that are told from a variable by what stands beside them. */
const TOLD_APART: ReadonlySet<string> = new Set([
  ...KEYWORDS.filter((word) => word in BUILTINS && word !== 'typeof'),
  ...['error', 'event', 'last', 'command', 'optional', 'needs', 'returns', 'timedate', 'fuzzy', 'tool', 'eval'],
]);
const DECLARES: ReadonlySet<string> = new Set(['set', 'let', 'var', 'const', 'local', 'val', 'my', 'mut', 'auto']);
const ASSIGNS: ReadonlySet<string> = new Set(['=', ':=', '+=', '-=', '*=', '/=']);
const CLAUSES: ReadonlySet<string> = new Set(['optional', 'needs', 'returns']);
const TOOL: ReadonlySet<string> = new Set(['tools', 'Tools', 'Tool', 'TOOL']);

/** Gives the words of a program, and those of its texts, the names that they can have here. */
export type Renaming = (words: readonly Word[]) => readonly Word[];

/** The renaming for a program. */
export function renamingOf(words: readonly Word[]): Renaming {
  const given = new Set(words.filter(({ kind }) => kind === 'name').map(({ text }) => text));
  const set = new Set(words.flatMap((word, at) => (isSet(words, at) ? [word.text] : [])));
  const named = [...set].filter((name) => TOLD_APART.has(name) && !given.has(`${name}_`));
  const [variables, plural] = [new Set(named), [...TOOL].some((name) => given.has(name) && !set.has(name))];
  if (variables.size === 0 && !plural) return (all) => all;
  return (all) =>
    all.map((word, at) => {
      if (word.kind !== 'name' || all[at - 1]?.text === '.') return word;
      if (variables.has(word.text)) return isKeyword(all, at) ? word : { ...word, text: `${word.text}_` };
      return TOOL.has(word.text) && !set.has(word.text) && isTool(all, at) ? { ...word, text: 'tool' } : word;
    });
}

/** Whether a word is the target of an assignment or the variable of a loop. */
function isSet(words: readonly Word[], at: number): boolean {
  const [word, next] = [words[at], words[at + 1]?.text ?? ''];
  const before = words[at - 1];
  if (word?.kind !== 'name' || before?.text === '.') return false;
  if (before?.text === 'each' || before?.text === 'for') return next === 'in' || next === ',' || next === 'of';
  if (before?.text === ',' && next === 'in') return true;
  if (DECLARES.has(before?.text ?? '')) return next === '=' || next === '[' || next === '.' || next === ',';
  return (before === undefined || before.kind === 'end') && ASSIGNS.has(next);
}

/** Whether a word is a keyword in its place, although a variable has its name. */
function isKeyword(words: readonly Word[], at: number): boolean {
  const { text = '' } = words[at] ?? {};
  const [before, next] = [words[at - 1], words[at + 1]];
  if (next?.text === ':' && ['{', ','].includes(before?.text ?? '')) return true;
  if (text in BUILTINS || text === 'eval') return next?.text === '(';
  if (text === 'error' || text === 'event') return before?.text === 'on' || before?.text === 'clear';
  if (text === 'command') return (before?.kind ?? 'end') === 'end' && (next?.kind ?? 'end') === 'end';
  if (text === 'tool') return isTool(words, at);
  return CLAUSES.has(text) && next?.kind === 'name';
}

/** Whether a word begins the name of a tool: `tool.str.Split(`. */
function isTool(words: readonly Word[], at: number): boolean {
  return words[at + 1]?.text === '.' && words[at + 2]?.kind === 'name' && words[at + 3]?.text === '.';
}
