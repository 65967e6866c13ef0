/** Judges the grammars with XGrammar: the corpus, samples, mutants, and what masks and compiling cost. `--mutants N`, `--samples N`. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { decoderGrammar, decoderRules } from '../../grammar/decoder/index.ts';
import { analyse, lexemesOf, parse } from '../../grammar/index.ts';
import { toolGrammar } from '../../src/tools/index.ts';
import { pureTools } from '../../stdlib-tools/index.ts';
import { inProcess } from '../../test/conformance/both.ts';
import { sections } from '../../test/conformance/suite.ts';
import { Random } from '../../test/fuzz/random.ts';
import { programs } from '../../test/grammar/decoder/corpus.ts';
import { Sampler } from '../../test/grammar/decoder/sampler.ts';
import { judge, matcherOf } from './xgrammar.ts';

const { values } = parseArgs({
  options: { mutants: { type: 'string', default: '3000' }, samples: { type: 'string', default: '2000' } },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const share = (part: number, of: number): string => `${part} of ${of} (${((100 * part) / of).toFixed(1)} %)`;
const ascii = ['</s>', ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)), '\n', '\t'];

const language = { tools: null, whole: 'file' } as const;
const { matcher } = await matcherOf(decoderGrammar(language), ascii);

const corpus = programs();
const refused = corpus.filter((text) => !judge(matcher, text).whole);
say(`corpus: ${share(corpus.length - refused.length, corpus.length)} accepted, and every prefix of them`);
if (refused.some((text) => !/^:: strings:/m.test(text) && !text.includes('\r'))) process.exitCode = 1;

const sampler = new Sampler(decoderRules(language), new Random(22));
let wrong = 0;
for (let i = 0; i < Number(values.samples); i++) if (!judge(matcher, sampler.draw()).whole) wrong++;
say(`samples: ${share(Number(values.samples) - wrong, Number(values.samples))} accepted`);
if (wrong > 0) process.exitCode = 1;

/** One token of a program removed, doubled, exchanged with the next one or with one from elsewhere. */
function mutant(text: string, random: Random, other: readonly string[]): string {
  const tokens = lexemesOf(text).filter(({ kind }) => kind !== 'comment');
  const [token, next] = tokens.slice(random.int(Math.max(1, tokens.length - 1)));
  if (token === undefined || next === undefined) return text;
  const cut = (s: number, e: number, by: string): string => text.slice(0, s) + by + text.slice(e);
  const written = text.slice(token.s, token.e);
  const edits = [
    () => cut(token.s, token.e, ''),
    () => cut(token.e, token.e, ` ${written}`),
    () => cut(token.s, next.e, `${text.slice(next.s, next.e)} ${written}`),
    () => cut(token.s, token.e, random.pick(other)),
  ];
  return random.pick(edits)();
}

const suite = sections().flatMap((section) => section.chunks.filter(({ host }) => !host).map((chunk) => ({ section, chunk })));
const valid = suite.filter(
  ({ chunk }) => chunk.expected.error === null && parse(chunk.source, { name: 'p.ns' }).ok && judge(matcher, chunk.source).whole,
);
const words = valid.flatMap(({ chunk }) =>
  lexemesOf(chunk.source)
    .filter(({ kind }) => kind !== 'comment' && kind !== 'text')
    .map(({ s, e }) => chunk.source.slice(s, e)),
);
const random = new Random(22);
const count = { grammar: 0, check: 0, run: 0, survives: 0, disagree: 0 };
for (let made = 0; made < Number(values.mutants); ) {
  const { section, chunk } = random.pick(valid);
  const source = mutant(chunk.source, random, words);
  if (source === chunk.source) continue;
  made++;
  const parsed = parse(source, { name: 'p.ns' });
  const whole = judge(matcher, source).whole;
  if (!whole) {
    count.grammar++;
    if (parsed.ok) count.disagree++;
  } else if (!parsed.ok || analyse([parsed]).some(({ severity }) => severity === 'error')) count.check++;
  else {
    const outcome = inProcess({ ...chunk, source, limits: { ...chunk.limits, fuel: 100_000 } }, section.tools().here);
    if (outcome.error === null && outcome.eventErrors.length === 0) count.survives++;
    else count.run++;
  }
}
const mutants = Number(values.mutants);
say(
  `mutants: refused by the grammar ${share(count.grammar, mutants)}, then by the check ${share(count.check, mutants)}, then by the run ${share(count.run, mutants)}; run to the end ${share(count.survives, mutants)}`,
);
say(`mutants that the grammar refuses and the parser takes: ${share(count.disagree, mutants)}`);

/** The most frequent pieces of the texts of this repository: a vocabulary of the size of a small model's. */
function vocabulary(size: number): readonly string[] {
  const counts = new Map<string, number>();
  const pages = ['docs/language.md', 'docs/tools.md', 'docs/stdlib.md', 'README.md'].map((page) =>
    readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8'),
  );
  for (const text of [...corpus, ...pages])
    for (const [word] of text.matchAll(/ ?[A-Za-z_]+| ?[0-9]+|\s+| ?[^\sA-Za-z0-9_]+/g))
      for (let s = 0; s < Math.min(word.length, 12); s++)
        for (let e = s + 2; e <= Math.min(word.length, s + 12); e++)
          counts.set(word.slice(s, e), (counts.get(word.slice(s, e)) ?? 0) + 1);
  const frequent = [...counts].sort(([a, m], [b, n]) => n * b.length - m * a.length).map(([piece]) => piece);
  return [...ascii, ...frequent.slice(0, size - ascii.length)];
}

const bits = (mask: Int32Array): number =>
  mask.reduce((sum, word) => sum + (word >>> 0).toString(2).replaceAll('0', '').length, 0);
const tokens = vocabulary(32_000);
const ids = new Map(tokens.map((token, id) => [token, id]));
const tools = pureTools();
for (const [name, text, reply] of [
  ['language, any tool', decoderGrammar(language), false],
  [`program, ${tools.length} tools`, toolGrammar(tools), false],
  [`turn, ${tools.length} tools`, toolGrammar(tools, { of: 'turn' }), true],
  [`small program, ${tools.length} tools`, toolGrammar(tools, { small: true }), false],
] as const) {
  const { matcher: masked, ms } = await matcherOf(text, tokens);
  const allowed: number[] = [];
  const times: number[] = [];
  for (const program of reply
    ? []
    : [
        'command\n  set words = ["b", "a"]\n  for each w in words\n    emit w + 1\n  endfor\n  if len(words) > 1\n    emit tool.str.Length("abc")\n  endif\nendcommand\n',
      ]) {
    masked.reset();
    for (let at = 0; at < program.length; ) {
      let size = 12;
      while (!ids.has(program.slice(at, at + size))) size--;
      const begun = performance.now();
      const mask = await masked.getNextTokenBitmask();
      times.push(performance.now() - begun);
      allowed.push(bits(mask));
      if (!masked.acceptToken(ids.get(program.slice(at, at + size)) ?? 0))
        throw new Error(`${name}: refused at ${JSON.stringify(program.slice(at))}`);
      at += size;
    }
  }
  const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0;
  const masks =
    allowed.length === 0
      ? ''
      : `; a mask of ${tokens.length} tokens allows ${median(allowed)} (median) to ${Math.max(...allowed)} and takes ${median(times).toFixed(2)} ms (median)`;
  say(`${name}: ${text.length} bytes, compiled in ${Math.round(ms)} ms${masks}`);
}
