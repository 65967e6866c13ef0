/** Statements that are NeuroScript already, and stay as they are. */
import { parse } from '../syntax/parse.ts';

/**
 * Whether a text is a statement of NeuroScript already, with the same calls as its replacement. One with `//` or `--` may be meant as
 * an operator.
 */
export function isStatement(text: string, replacement: string): boolean {
  if (/\/\/|--/.test(text) || !BEGINS.test(text)) return false;
  const calls = (written: string): readonly string[] => written.match(/\w+\(?/g)?.filter((name) => name.endsWith('(')) ?? [];
  const kept = new Set(calls(replacement));
  return calls(text).every((name) => kept.has(name)) && parse(text, { name: '', interactive: true }).ok;
}

const BEGINS = /^(?:set|emit|call|return|must|fail|whisper|ask|promptuser)\b/;

/** Whether two texts differ in blanks only. */
export function same(left: string, right: string): boolean {
  const bare = (text: string): string =>
    text
      .trim()
      .replace(/(\w)\s+(?=\w)/g, '$1\u0000')
      .replace(/\s+/g, '');
  return bare(left) === bare(right) && left.split('\n').length === right.split('\n').length;
}
