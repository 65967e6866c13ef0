/** Every program of this repository that parses, once, as the reader of sources leaves it. */
import { globSync, readFileSync } from 'node:fs';
import { parse } from '../../../grammar/index.ts';
import { readChunks } from '../../conformance/chunks.ts';
import { examplesOf } from '../../docs/programs.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;
const WHOLE = /^(?:func|command|on event|::)/;

/** The valid programs of the conformance suite, the docs, the examples, the templates and the corpus of the fuzzer. */
export function programs(): readonly string[] {
  const files = (pattern: string): string[] => globSync(`${ROOT}${pattern}`).sort();
  const chunks = files('test/conformance/**/*.ns').flatMap((file) => readChunks(file).map(({ source }) => source));
  const pages = [...files('docs/**/*.md'), `${ROOT}README.md`].flatMap((file) => examplesOf(readFileSync(file, 'utf8')));
  const blocks = pages.map(({ lines }) => {
    const text = lines.filter((line) => !/# !! syntax/.test(line)).join('\n');
    return WHOLE.test(text.replace(/^(?:#.*\n|\n)*/, '')) ? `${text}\n` : `func main() means\n${text}\nendfunc\n`;
  });
  const others = ['examples/**/*.ns', 'test/fuzz/corpus/*.ns'].flatMap(files).map((file) => readFileSync(file, 'utf8'));
  const parsed = [...chunks, ...blocks, ...others].map((text) => parse(text, { name: 'program.ns' }));
  return [...new Set(parsed.flatMap((one) => (one.ok ? [one.text] : [])))];
}
