/** Programs with one token changed: who refuses them first, the grammar, the check or the run. */
import { decoderGrammar } from '../../../grammar/decoder/index.ts';
import { analyse, lexemesOf, parse, type ToolShape } from '../../../grammar/index.ts';
import { defineTool, type ToolDefinition, toolGrammar } from '../../../src/tools/index.ts';
import { inProcess } from '../../../test/conformance/both.ts';
import { sections } from '../../../test/conformance/suite.ts';
import { Random } from '../../../test/fuzz/random.ts';
import { judge, type Matcher, matcherOf } from './xgrammar.ts';

/** The tools of the programs of the suite, as a host would declare them. */
const DECLARED: readonly (readonly [name: string, args: Parameters<typeof defineTool>[0]['args']])[] = [
  ['tool.store.Get', [{ name: 'path', type: 'string' }]],
  ['tool.store.Put', [{ name: 'path', type: 'string' }, { name: 'value' }, { name: 'version', type: 'int' }]],
  ['tool.net.Fetch', [{ name: 'url', type: 'string' }]],
  ['tool.fs.Read', [{ name: 'path', type: 'string' }]],
  [
    'tool.mail.Send',
    [
      { name: 'to', type: 'string' },
      { name: 'subject', type: 'string' },
    ],
  ],
  [
    'tool.policy.Allow',
    [
      { name: 'op', type: 'string' },
      { name: 'path', type: 'string' },
    ],
  ],
  ['tool.t.Give', [{ name: 'value', required: false }]],
  ['tool.t.Echo', ['a', 'b', 'c'].map((name) => ({ name, required: false }))],
  ['tool.t.RtFail', []],
  ['tool.t.RetNil', []],
];

const declared: readonly ToolDefinition[] = DECLARED.map(([name, args]) => defineTool({ name, args, run: () => null }));
const shapes: readonly ToolShape[] = declared.map(({ canonicalName, parameters }) => ({
  name: canonicalName,
  least: parameters.findLastIndex(({ required }) => required) + 1,
  most: parameters.length,
}));

interface Edit {
  readonly source: string;
  /** The token that is changed, and the one behind it. */
  readonly at: { readonly s: number; readonly e: number };
  readonly next: { readonly s: number; readonly e: number };
  readonly random: Random;
  /** Tokens of other programs. */
  readonly others: readonly string[];
}

const KINDS: Readonly<Record<string, (edit: Edit) => string>> = {
  removed: (edit) => replaced(edit, ''),
  'written twice': (edit) => replaced(edit, `${written(edit)} ${written(edit)}`),
  'exchanged with the next one': ({ source, at, next }) =>
    `${source.slice(0, at.s)}${source.slice(next.s, next.e)} ${source.slice(at.s, at.e)}${source.slice(next.e)}`,
  'another one': (edit) => replaced(edit, edit.random.pick(edit.others)),
  'a letter lost': (edit) => {
    const text = written(edit);
    const place = edit.random.int(text.length);
    return /^[a-z]\w+$/i.test(text) ? replaced(edit, text.slice(0, place) + text.slice(place + 1)) : edit.source;
  },
};

function written({ source, at }: Edit): string {
  return source.slice(at.s, at.e);
}

function replaced({ source, at }: Edit, by: string): string {
  return source.slice(0, at.s) + by + source.slice(at.e);
}

/** Who refused how many. */
interface Count {
  grammar: number;
  check: number;
  run: number;
  survives: number;
}

type Program = { readonly section: ReturnType<typeof sections>[number]; readonly chunk: Section['chunks'][number] };
type Section = ReturnType<typeof sections>[number];

/** The rows of a table in Markdown, and how many mutants the grammar of any tool refuses although the parser takes them. */
export async function mutantRows(
  many: number,
  tokens: readonly string[],
): Promise<{ readonly rows: readonly string[]; readonly disagree: number }> {
  const { matcher: any } = await matcherOf(decoderGrammar({ tools: null, whole: 'file' }), tokens);
  const { matcher: own } = await matcherOf(toolGrammar(declared), tokens);
  const programs: readonly Program[] = sections().flatMap((section) =>
    section.chunks
      .filter(({ host, source, expected }) => !host && expected.error === null && parse(source, { name: 'p.ns' }).ok)
      .map((chunk) => ({ section, chunk })),
  );
  const valid = programs.filter(({ chunk }) => judge(any, chunk.source).whole);
  const calling = valid.filter(({ chunk }) => /\btool\s*\./.test(chunk.source) && judge(own, chunk.source).whole);
  let disagree = 0;
  const rows = Object.keys(KINDS).flatMap((kind) => {
    const all = survey(kind, valid, many, any, false, () => disagree++);
    const ofAny = survey(kind, calling, many, any, false, () => disagree++);
    const ofOwn = survey(kind, calling, many, own, true, () => {});
    return [
      row(kind, `any tool, all ${valid.length} programs`, all),
      row('', `any tool, the ${calling.length} that call tools`, ofAny),
      row('', 'the tools of the run, the same mutants', ofOwn),
    ];
  });
  return {
    rows: ['| token | grammar | refused by it | then by the check | then by the run | runs to its end |', ...rows],
    disagree,
  };
}

function row(kind: string, grammar: string, { grammar: first, check, run, survives }: Count): string {
  const sum = first + check + run + survives;
  const cells = [first, check, run, survives].map((count) => `${((100 * count) / sum).toFixed(1)} %`);
  return `| ${[kind, grammar, ...cells].join(' | ')} |`;
}

/** The same seed makes the same mutants, whichever grammar judges them. */
function survey(
  kind: string,
  programs: readonly Program[],
  many: number,
  matcher: Matcher,
  knowsTools: boolean,
  onDisagree: () => void,
): Count {
  const random = new Random(22);
  const others = programs.flatMap(({ chunk: { source } }) =>
    lexemesOf(source)
      .filter(({ kind }) => kind !== 'comment' && kind !== 'text')
      .map(({ s, e }) => source.slice(s, e)),
  );
  const count: Count = { grammar: 0, check: 0, run: 0, survives: 0 };
  for (let made = 0; made < many; ) {
    const program = random.pick(programs);
    const { source } = program.chunk;
    const tokens = lexemesOf(source).filter((token) => token.kind !== 'comment');
    const [at, next] = tokens.slice(random.int(Math.max(1, tokens.length - 1)));
    if (at === undefined || next === undefined) continue;
    const mutant = KINDS[kind]?.({ source, at, next, random, others }) ?? source;
    if (mutant === source) continue;
    made++;
    const who = refuses(program, mutant, matcher, knowsTools);
    count[who]++;
    if (who === 'grammar' && parse(mutant, { name: 'p.ns' }).ok) onDisagree();
  }
  return count;
}

function refuses({ section, chunk }: Program, source: string, matcher: Matcher, knowsTools: boolean): keyof Count {
  if (!judge(matcher, source).whole) return 'grammar';
  const parsed = parse(source, { name: 'p.ns' });
  const environment = knowsTools ? { tools: shapes, complete: true } : {};
  if (!parsed.ok || analyse([parsed], environment).some(({ severity }) => severity === 'error')) return 'check';
  const { error, eventErrors } = inProcess(
    { ...chunk, source, limits: { ...chunk.limits, fuel: 100_000 } },
    section.tools().here,
  );
  return error === null && eventErrors.length === 0 ? 'survives' : 'run';
}
