// Adds a corpus of records to `conformance/records/`: `node scripts/records.mjs NAME [CHECKOUT]`. The command of the checkout, by default
// this one, makes sessions of every kind, a store, a log, recordings, keys and a queue, and answers questions about them.
// `test/records/` asks every later version the same.
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandsOf, makeCorpus } from './records/making.mjs';
import { questionsFor } from './records/questions.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [name, checkout = root] = process.argv.slice(2);
const target = join(root, 'conformance', 'records', name ?? '');
if (name === undefined || !/^\d[\w.-]*$/.test(name) || existsSync(target)) {
  process.stderr.write(
    'usage: node scripts/records.mjs NAME [CHECKOUT]   NAME: a version that conformance/records/ does not have\n',
  );
  process.exit(2);
}
const bin = resolve(checkout, 'bin', 'neuroscript.js');
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
  mkdirSync(join(target, '..'), { recursive: true });
  cpSync(corpus, target, { recursive: true });
  process.stdout.write(`conformance/records/${name}: ${made.sids.length} sessions, ${answers.length} answers\n`);
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
