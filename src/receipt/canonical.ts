import { canonicalize, JsonError } from '../aeiou/index.ts';

/** Whether a file is the canonical JSON of what it says, and a line feed: then no byte of it can change and say the same. */
export function isCanonical(file: string, json: unknown): boolean {
  try {
    return `${canonicalize(json, 'doubles')}\n` === file;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}
