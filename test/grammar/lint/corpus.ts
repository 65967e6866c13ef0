import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from '../../../grammar/syntax/parse.ts';
import { ROOT } from '../../architecture/source.ts';
import { type Chunk, readChunks } from '../../conformance/chunks.ts';

const folders = ['test/conformance', 'test/conformance/programs'];

/** Every program of the conformance suite that parses. */
export const corpus: readonly (Chunk & { readonly file: string })[] = folders.flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.ns'))
    .flatMap((name) =>
      readChunks(join(ROOT, folder, name)).flatMap((chunk) =>
        parse(chunk.source, { name: 'test.ns' }).ok ? [{ ...chunk, file: name }] : [],
      ),
    ),
);
