import { analyse, type Environment, type Finding, parse } from '../../grammar/index.ts';
import { readChunks } from '../conformance/chunks.ts';
import { filesIn } from './files.ts';

/** The sources of the conformance suite. */
export const CORPUS: readonly string[] = filesIn().flatMap((path) => readChunks(path).map(({ source }) => source));

/** What `check` says of a source: null for a syntax error. */
export function wholeCheck(text: string, environment: Environment = {}): readonly Finding[] | null {
  const result = parse(text, { name: '' });
  return result.ok ? analyse([{ file: result.file, text: result.text }], environment) : null;
}
