import { ConfigError } from '../../wire/errors.ts';
import { checkText, wholeNumber } from '../../wire/options.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { matchesPattern } from '../policy/capability.ts';
import { argumentNotes, type CatalogueTool, toolCatalogue } from './entry.ts';
import { firstSentence, oneLine, sentences } from './lines.ts';

/** Options of a text for a model. */
export interface ToolPromptOptions {
  /** Most tokens by {@link estimateTokens}; no bound when absent. */
  readonly budget?: number | undefined;
  /** Patterns of names, as in a policy. Tools of the first pattern come first, then those of the second, and all others last. */
  readonly prefer?: readonly string[] | undefined;
  /** Shows only signatures. */
  readonly brief?: boolean | undefined;
}

/** A text for a model, with an account of its content. */
export interface ToolPrompt {
  /** The text, as Markdown. */
  readonly text: string;
  /** The tokens of the text by {@link estimateTokens}. */
  readonly tokens: number;
  /** Names of the tools that are not in it. */
  readonly leftOut: readonly string[];
  /** Names of the tools whose entry is shortened. */
  readonly shortened: readonly string[];
}

/** Bytes of UTF-8 for a token. English text and signatures have 3.5 to 4, so the estimate is rather too high. */
const BYTES_PER_TOKEN = 3;

/**
 * Estimates the tokens of a text without a model's tokenizer. For catalogues in English the number is rather too high; for other
 * texts it may be too low.
 */
export function estimateTokens(text: string): number {
  checkText('the text', text);
  return Math.ceil(Buffer.byteLength(text, 'utf8') / BYTES_PER_TOKEN);
}

/** How a tool is called: the first of them that has plain arguments, with values of their types. */
function headOf(tools: readonly ToolDefinition[]): string {
  const sample = tools.map(sampleCall).find((call) => call !== null) ?? 'tool.…(…)';
  return `\`set x = ${sample}\` keeps a result. Arguments go by position; one with ? may be left out, one with = has that value then.`;
}

/** A call with the arguments that a tool needs; null where one of them has no plain type. */
function sampleCall({ name, parameters }: ToolDefinition): string | null {
  const values = parameters
    .filter(({ required }) => required)
    .map(({ kind }) => ('type' in kind ? SAMPLES.get(kind.type) : undefined));
  return values.includes(undefined) ? null : `${name}(${values.join(', ')})`;
}

const SAMPLES: ReadonlyMap<string, string> = new Map([
  ['any', '1'],
  ['string', '"a"'],
  ['int', '1'],
  ['float', '1.5'],
  ['number', '1.5'],
  ['bool', 'true'],
  ['boolean', 'true'],
  ['map', '{"a": 1}'],
  ['list', '[1]'],
  ['slice', '[1]'],
  ['slice_string', '["a"]'],
  ['slice_any', '[1]'],
]);

/** Written once if a signature has such a type. */
const MAPS = 'The type {a: int, b?: string} is a map with these keys; a key with ? may be absent.';

/** A phrase of at least this many tools of a group is written once for the group. */
const COMMON = 3;

/** The detail of an entry: none, the signature, the first sentence too, or everything. */
type Detail = 0 | 1 | 2 | 3;

/**
 * The catalogue of tools as a text for a model's instructions, within a budget of tokens. First every tool gets its signature, in the
 * preferred order, then its first sentence, then everything; groups take turns, so that one large group does not use the budget up.
 * Tools that do not fit are left out, and the last line names them. Throws
 * {@link ConfigError} (`ERR_CONFIG`) for a budget that is too small for that line.
 */
export function toolPrompt(
  tools: readonly ToolDefinition[],
  { budget, prefer = [], brief = false }: ToolPromptOptions = {},
): ToolPrompt {
  if (budget !== undefined) wholeNumber(1)('the budget in tokens', budget);
  const entries = [...toolCatalogue(tools)].sort((a, b) => rankOf(a, prefer) - rankOf(b, prefer));
  const common = commonPhrases(entries);
  const lines = entries.map((entry) => ([1, 2, 3] as const).map((detail) => linesOf(entry, detail, common.get(entry.group))));
  const most = brief ? 1 : 3;
  const details = entries.map((): Detail => (budget === undefined ? most : 0));
  let named = 0;
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const head = headOf(entries.flatMap(({ name }) => byName.get(name) ?? []));
  const render = (): string => {
    const shown = details.flatMap((detail, index) => (detail === 0 ? [] : [lines[index]?.[detail - 1] ?? '']));
    const missing = entries.filter((_entry, index) => details[index] === 0);
    const whole = new Set(entries.flatMap(({ group }, index) => (details[index] === 3 ? [group] : [])));
    const shared = [...common].filter(([group]) => whole.has(group)).map(([group, phrases]) => sharedLine(group, phrases));
    const maps = shown.some((line) => line.includes('{')) ? [MAPS] : [];
    return `${[head, ...maps, ...shared, ...shown, ...footer(missing, named)].join('\n')}\n`;
  };
  if (budget !== undefined) {
    // A small budget is better spent on tools than on the names of omitted ones.
    named = MOST_NAMED.find((names) => estimateTokens(footer(entries, names).join('\n')) <= budget / 4) ?? 0;
    const least = estimateTokens(render());
    if (least > budget) throw new ConfigError(`a budget of ${budget} tokens is too small for any tool; the minimum is ${least}`);
    const turns = inTurns(entries, prefer);
    for (const detail of ([1, 2, 3] as const).slice(0, most))
      for (const index of turns) {
        const before = details[index] ?? 0;
        details[index] = detail;
        // A tool that does not fit is skipped: a shorter one further down may still fit.
        if (before !== detail - 1 || estimateTokens(render()) > budget) details[index] = before;
      }
  }
  const text = render();
  const isShort = (index: number): boolean => {
    const [entry, detail = 0] = [entries[index], details[index]];
    if (entry === undefined || detail === 0 || detail === 3) return false;
    const shared = common.get(entry.group);
    return lines[index]?.[2] !== lines[index]?.[detail - 1] || phrasesOf(entry).some((phrase) => shared?.has(phrase));
  };
  const namesOf = (wanted: (index: number) => boolean) => entries.flatMap(({ name }, index) => (wanted(index) ? [name] : []));
  return {
    text,
    tokens: estimateTokens(text),
    leftOut: namesOf((index) => details[index] === 0),
    shortened: namesOf((index) => isShort(index)),
  };
}

/** The number of the first pattern that a tool matches. */
function rankOf({ name }: CatalogueTool, prefer: readonly string[]): number {
  const found = prefer.findIndex((pattern) => matchesPattern(pattern, name));
  return found < 0 ? prefer.length : found;
}

/** The indices of tools in the order in which they get space: by pattern, then the first tool of every group, the second ones and so on. */
function inTurns(entries: readonly CatalogueTool[], prefer: readonly string[]): readonly number[] {
  const groups = new Map<string, number>();
  const places = entries.map((entry, index) => {
    const key = `${rankOf(entry, prefer)} ${entry.group}`;
    const turn = groups.get(key) ?? 0;
    groups.set(key, turn + 1);
    return { index, rank: rankOf(entry, prefer), turn };
  });
  return places.sort((a, b) => a.rank - b.rank || a.turn - b.turn).map(({ index }) => index);
}

/** The sentences and notes that several tools of a group have, by group. The first sentence of a tool stays with it. */
function commonPhrases(entries: readonly CatalogueTool[]): ReadonlyMap<string, ReadonlySet<string>> {
  const groups = Map.groupBy(entries, ({ group }) => group);
  const found = [...groups].map(([group, tools]) => {
    const counts = new Map<string, number>();
    for (const tool of tools) for (const phrase of new Set(phrasesOf(tool))) counts.set(phrase, (counts.get(phrase) ?? 0) + 1);
    return [group, new Set([...counts].filter(([, count]) => count >= COMMON).map(([phrase]) => phrase))] as const;
  });
  return new Map(found.filter(([, phrases]) => phrases.size > 0));
}

function phrasesOf({ description, args }: CatalogueTool): readonly string[] {
  return [...sentences(description).slice(1), ...argumentNotes(args).map(oneLine)];
}

function sharedLine(group: string, phrases: ReadonlySet<string>): string {
  const ended = [...phrases].map((phrase) => ('.!?'.includes(phrase.at(-1) ?? '') ? phrase : `${phrase}.`));
  return `tool.${group}.*, where it applies: ${ended.join(' ')}`;
}

function linesOf(entry: CatalogueTool, detail: 1 | 2 | 3, common: ReadonlySet<string> = new Set()): string {
  const { call, description, args, example } = entry;
  const signature = oneLine(call);
  if (detail === 1 || description === '') if (detail < 3) return signature;
  if (detail === 2) return `${signature}\n  ${firstSentence(description)}`;
  const own = (phrase: string) => !common.has(phrase);
  const [first = '', ...rest] = sentences(description);
  return [
    signature,
    ...(description === '' ? [] : [`  ${[first, ...rest.filter(own)].join(' ')}`]),
    ...argumentNotes(args)
      .map(oneLine)
      .filter(own)
      .map((note) => `  ${note}`),
    ...(example === undefined ? [] : [`  Example: ${oneLine(example)}`]),
  ].join('\n');
}

/** Names whole groups with their number of tools, so that the line stays short, and a single tool of a group by its name. */
function footer(missing: readonly CatalogueTool[], most: number): readonly string[] {
  if (missing.length === 0) return [];
  if (most === 0) return [`Left out for lack of space: ${missing.length} more.`];
  const groups = [...Map.groupBy(missing, ({ group }) => group)];
  const names = groups.map(([group, entries]) =>
    entries.length === 1 ? (entries[0]?.name ?? '') : `tool.${group}.* (${entries.length})`,
  );
  const listed = names.slice(0, most).join(', ');
  const more = names.length > most ? ' and others' : '';
  return [`Left out for lack of space: ${missing.length} more, ${listed}${more}.`];
}

/** The number of groups that the last line may name, from ample budgets to small ones. */
const MOST_NAMED = [12, 6, 3, 1];
