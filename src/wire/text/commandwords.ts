import type { AnswerForm } from '../journal.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const PLAIN = new Set(`${LETTERS}${LETTERS.toUpperCase()}0123456789_@%+=:,./-`);

/** A word of a command as a POSIX shell reads it. */
export function shellWord(word: string): string {
  return word !== '' && [...word].every((each) => PLAIN.has(each)) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** What stands in a command for the answer to a call: JSON of its form, with capitals for what a person writes. */
export function answerSample(form: AnswerForm | null): string {
  if (form === null) return 'JSON';
  if (typeof form !== 'string') return JSON.stringify(form.choices[0] ?? '');
  return { truth: 'true', number: 'NUMBER', text: '"TEXT"' }[form];
}
