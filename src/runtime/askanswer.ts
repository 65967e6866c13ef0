import { ToolError } from '../tools/index.ts';
import { NS_CODES } from '../wire/codes.ts';
import { isValueMap, type Value, type ValueMap } from '../wire/values.ts';

/** What an answer must be, by the option `answer` of an `ask`. */
export type AskAnswer =
  | { readonly kind: 'boolean' }
  | { readonly kind: 'number'; readonly min: number; readonly max: number }
  | { readonly kind: 'text'; readonly of: readonly string[] };

/** What the options of an `ask` want as its answer; null for any text. Throws {@link ToolError} 4 for anything else. */
export function wantedAnswer({ answer }: ValueMap): AskAnswer | null {
  if (answer === undefined) return null;
  if (answer === 'boolean') return { kind: 'boolean' };
  if (Array.isArray(answer)) {
    const of = answer.filter((each: Value) => typeof each === 'string');
    if (of.length > 0 && of.length === answer.length) return { kind: 'text', of };
  } else if (isValueMap(answer)) {
    const { min, max, ...more } = answer;
    if (typeof min === 'number' && typeof max === 'number' && min <= max && Object.keys(more).length === 0)
      return { kind: 'number', min, max };
  }
  const forms = '"boolean", {"min": 1, "max": 5} or a list of texts';
  throw new ToolError(NS_CODES.ArgMismatch, `the options of ask: answer must be ${forms}`);
}

/** What an answer must be, in words. */
export function answerWords(wanted: AskAnswer): string {
  switch (wanted.kind) {
    case 'boolean':
      return 'true or false';
    case 'number':
      return `a number from ${wanted.min} to ${wanted.max}`;
    case 'text':
      return `one of ${wanted.of.map((text) => JSON.stringify(text)).join(', ')}`;
  }
}

/** The value of an answer. Throws {@link ToolError} 41 for one that was not asked for, which the message does not repeat. */
export function checkedAnswer(wanted: AskAnswer, text: unknown): boolean | number | string {
  if (typeof text === 'string') {
    if (wanted.kind === 'text' && wanted.of.includes(text)) return text;
    if (wanted.kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
    const number = Number(text);
    // A number is what `emit` writes for one.
    if (wanted.kind === 'number' && String(number) === text && number >= wanted.min && number <= wanted.max) return number;
  }
  throw new ToolError(NS_CODES.InvalidValue, `the answer of the ask is not ${answerWords(wanted)}`);
}
