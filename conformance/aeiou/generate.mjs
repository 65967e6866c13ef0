// Writes the vectors of this folder: `npx node conformance/aeiou/generate.mjs`. It uses nothing of the implementation: texts are
// written out in `generate/`, tags and digests come from node:crypto, and expected outcomes come from the specification.
import { writeFileSync } from 'node:fs';
import { canonical, refused } from './generate/canonical.mjs';
import { compose, extract, parse, userdata } from './generate/envelopes.mjs';
import { KEYS } from './generate/shared.mjs';
import { mint, verify } from './generate/tokens.mjs';
import { digests, select } from './generate/turns.mjs';

const FORMAT = 1;

/** Every file of vectors by its name. */
export const FILES = {
  'envelopes.json': { op: 'envelope.parse', title: 'Envelopes, byte by byte', vectors: parse },
  'replies.json': { op: 'envelope.extract', title: 'The envelope in a reply of a model', vectors: extract },
  'composing.json': { op: 'envelope.compose', title: 'Writing envelopes', vectors: compose },
  'userdata.json': { op: 'userdata.validate', title: 'USERDATA', vectors: userdata },
  'tokens.json': { op: 'token.verify', title: 'Control tokens', keys: KEYS, vectors: verify },
  'minting.json': { op: 'token.mint', title: 'Minting', vectors: mint },
  'selection.json': { op: 'output.select', title: 'What OUTPUT decides', keys: KEYS, vectors: select },
  'digests.json': { op: 'progress.digest', title: 'The digest of the progress guard', vectors: digests },
  'canonical.json': {
    op: 'json.canonicalize',
    title: 'Canonical JSON of the token profile',
    vectors: [...canonical, ...refused],
  },
};

if (import.meta.main)
  for (const [name, file] of Object.entries(FILES))
    writeFileSync(new URL(name, import.meta.url), `${JSON.stringify({ format: FORMAT, ...file }, null, 2)}\n`);
