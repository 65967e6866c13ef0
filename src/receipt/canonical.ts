import { canonicalize, JsonError } from '../aeiou/index.ts';

/** Whether a text is canonical JSON and a line feed. Then no other text has the same content. */
export function isCanonical(file: string, json: unknown): boolean {
  try {
    return `${canonicalize(json, 'doubles')}\n` === file;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}
