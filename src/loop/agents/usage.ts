import { isRecord } from '../../wire/unknown.ts';

/** Estimated bytes of text per token. */
const BYTES_PER_TOKEN = 4;

/** A higher number is no count of the tokens of one reply. */
const MOST_TOKENS = 1e9;

/** The tokens of a text that nobody counted. */
export function estimate(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** A count of tokens, rounded up. Undefined for everything else: null, text, NaN, a negative or an incredible number. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= MOST_TOKENS ? Math.ceil(value) : undefined;
}

/** The tokens of a text as a server counted them; an estimate where the server says nothing, or 0 for a text that is not empty. */
export function tokensOf(text: string, count: unknown): number {
  return countOf(count) || estimate(text);
}

/** Whether a piece of a stream that the SDK could not read has usage and no text, so that the reply is whole without it. */
export function isUsageOnly(error: unknown): boolean {
  if (!isRecord(error)) return false;
  const { text, value } = error;
  if (typeof text === 'string') return text.includes('"usage"') && text.replaceAll(' ', '').includes('"choices":[]');
  return isRecord(value) && 'usage' in value && (!Array.isArray(value['choices']) || value['choices'].length === 0);
}
