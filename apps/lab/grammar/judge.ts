/**
 * Judges the grammars with XGrammar: the corpus, samples, mutants, and what masks and compiling cost. `--mutants N` of each kind,
 * `--samples N` of each form.
 */
import { parseArgs } from 'node:util';
import { decoderGrammar, decoderRules } from '../../../grammar/decoder/index.ts';
import { decoderTools } from '../../../src/tools/catalogue/grammar.ts';
import { Random } from '../../../test/fuzz/random.ts';
import { programs } from '../../../test/grammar/decoder/corpus.ts';
import { Sampler } from '../../../test/grammar/decoder/sampler.ts';
import { ALLOWED } from '../../../test/grammar/decoder/view.ts';
import { maskRows } from './masks.ts';
import { mutantRows } from './mutants.ts';
import { judge, matcherOf } from './xgrammar.ts';

const { values } = parseArgs({
  options: { mutants: { type: 'string', default: '1000' }, samples: { type: 'string', default: '500' } },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const share = (part: number, of: number): string => `${part} of ${of} (${((100 * part) / of).toFixed(1)} %)`;
const ascii = ['</s>', ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)), '\n', '\t'];

const { matcher } = await matcherOf(decoderGrammar({ tools: null, whole: 'file' }), ascii);
const corpus = programs();
const refused = corpus.filter((text) => !judge(matcher, text).whole);
say(`corpus: ${share(corpus.length - refused.length, corpus.length)} accepted, and every prefix of them`);
for (const text of refused) say(`refused: ${JSON.stringify(text)}`);
if (refused.length > 0) process.exitCode = 1;

for (const [form, grammar] of [
  ['a program, any tool', { tools: null, whole: 'file' }],
  ['a program', { tools: decoderTools(ALLOWED), whole: 'file' }],
  ['a small program', { tools: decoderTools(ALLOWED), whole: 'file', small: true }],
  ['a turn', { tools: decoderTools(ALLOWED), whole: 'turn' }],
  ['a small turn', { tools: decoderTools(ALLOWED), whole: 'turn', small: true }],
] as const) {
  const { matcher: own } = await matcherOf(decoderGrammar(grammar), ascii);
  const sampler = new Sampler(decoderRules(grammar), new Random(22));
  let accepted = 0;
  for (let i = 0; i < Number(values.samples); i++) if (judge(own, sampler.draw()).whole) accepted++;
  say(`samples of ${form}: ${share(accepted, Number(values.samples))} accepted`);
  if (accepted < Number(values.samples)) process.exitCode = 1;
}

const { rows, disagree } = await mutantRows(Number(values.mutants), ascii);
for (const row of rows) say(row);
say(`mutants that the grammar of any tool refuses and the parser takes: ${disagree}`);
if (disagree > 0) process.exitCode = 1;
for (const row of await maskRows(corpus, ascii)) say(row);
