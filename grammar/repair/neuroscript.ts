/** Recognises statements that are NeuroScript already and stay unchanged. */
import { parse } from '../syntax/parse.ts';

/** Whether a text is a statement of NeuroScript already, with the same calls as its replacement. */
export function isStatement(text: string, replacement: string): boolean {
  if (!BEGINS.test(text) || replacement.includes('system_error') !== text.includes('system_error')) return false;
  if (text.startsWith('return') && replacement.startsWith('emit')) return false;
  const calls = (written: string): readonly string[] => written.match(/\w+\(?/g)?.filter((name) => name.endsWith('(')) ?? [];
  const kept = new Set(calls(replacement));
  const whole = text.startsWith('return') ? `func f() means\n${text}\nendfunc` : text;
  return calls(text).every((name) => kept.has(name)) && parse(whole, { name: '', interactive: true }).ok;
}

const BEGINS = /^(?:set|emit|call|return|must|fail|whisper|ask|promptuser)\b/;

/**
 * Whether a text is the head of a NeuroScript block already, and its replacement differs only in brackets, or by a template for a sum.
 * `end` ends such a block.
 */
export function isHead(text: string, replacement: string, end: string): boolean {
  const bare = (written: string): string => written.replace(/[()\s]/g, '');
  const template = replacement.includes('```') && !text.includes('```');
  if (!template && bare(text) !== bare(replacement)) return false;
  return /^(?:if|while|for each)\b/.test(text) && parse(`${text}\nset a = 1\n${end}`, { name: '', interactive: true }).ok;
}

/** Whether two texts differ only in blanks. */
export function same(left: string, right: string): boolean {
  const bare = (text: string): string =>
    text
      .trim()
      .replace(/(\w)\s+(?=\w)/g, '$1\u0000')
      .replace(/\s+/g, '');
  return bare(left) === bare(right) && left.split('\n').length === right.split('\n').length;
}
