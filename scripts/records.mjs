// Makes the corpus of records of this version: `node scripts/records.mjs`, after `npm run build`. The command makes sessions of every
// kind, a store, a log, recordings, keys and a queue, and answers questions about them. `test/records/` asks every later version the same.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandsOf, makeCorpus } from './records/making.mjs';
import { questionsFor } from './records/questions.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const target = join(root, 'conformance', 'records', version);
const bin = join(root, 'bin', 'neuroscript.js');
const scratch = mkdtempSync(join(tmpdir(), 'records-'));
try {
  const [corpus, copy] = [join(scratch, 'corpus'), join(scratch, 'copy')];
  mkdirSync(corpus);
  const made = await makeCorpus(bin, corpus);
  cpSync(corpus, copy, { recursive: true });
  const { run } = commandsOf(bin, copy);
  const answers = questionsFor(made).map(({ args, apart }) => {
    const { code, stdout } = run(args, null);
    return { args, code, apart, said: readable(stdout) };
  });
  writeFileSync(join(corpus, 'answers.json'), `[\n${answers.map((answer) => JSON.stringify(answer)).join(',\n')}\n]\n`);
  rmSync(target, { recursive: true, force: true });
  cpSync(corpus, target, { recursive: true });
  process.stdout.write(`conformance/records/${version}: ${made.sids.length} sessions, ${answers.length} answers\n`);
} finally {
  rmSync(scratch, { recursive: true });
}

/** The JSON that a command printed, or its text. */
function readable(stdout) {
  try {
    return JSON.parse(stdout);
  } catch {
    return stdout;
  }
}
