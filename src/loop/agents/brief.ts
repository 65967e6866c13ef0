import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { systemPrompt } from '../../aeiou/index.ts';
import { type LibraryEntry, MAGIC_TOOL, procedurePrompt, type ToolDefinition, toolPrompt } from '../../tools/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import { timerMs } from '../../wire/options.ts';
import type { AgentRequest } from './agent.ts';

/** Options of {@link agentBrief}. */
export interface AgentBrief {
  /** The rules for programs: `systemPrompt()` when absent; pass `v1SystemPrompt()` for a v1 loop. */
  readonly rules?: string;
  /** The tools that a program may call, in the order of presentation. */
  readonly tools?: readonly ToolDefinition[] | undefined;
  /**
   * Most tokens for the application's own tools, as `estimateTokens` counts them; 6,000 when absent. Standard tools are listed by name, because
   * `tool.meta.Find` gives their signatures; where that tool is not among them, they get signatures within as many tokens.
   */
  readonly toolTokens?: number | undefined;
  /** Loaded procedures that a program may call, such as `library` of an interpreter; none when absent. They get at most as many tokens as tools. */
  readonly library?: readonly LibraryEntry[] | undefined;
  /**
   * {@link languageBrief} when absent. Pass {@link languageCard} for the language on one page, with all operators and a table of common
   * mistakes, or '' for models that know the language. What names a tool that is not among `tools` is left out of the page.
   */
  readonly language?: string | undefined;
  /** Whether programs may define procedures, as those of a v1 loop. False when absent: the page says nothing about them. */
  readonly procedures?: boolean;
  /** For a small context: lists only the signatures of tools. False when absent. */
  readonly small?: boolean;
}

/** A tenth of a small model's context. */
const TOOL_TOKENS = 6_000;

/**
 * The system text of an agent: rules, language, tools and loaded procedures, in this order. With ten tools of the application and all standard tools it has at
 * most 1,800 tokens of o200k. Throws `ConfigError` for a budget in which no tool fits.
 */
export function agentBrief({
  rules = systemPrompt(),
  tools = [],
  library = [],
  toolTokens = TOOL_TOKENS,
  small = false,
  procedures = false,
  language = languageBrief(),
}: AgentBrief = {}): string {
  const parts = [
    fitted(rules, tools, true),
    fitted(language, tools, procedures),
    toolCard(rules, tools, toolTokens, small),
    libraryCard(library, toolTokens, small),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

const pages = new Map<string, string>();

/**
 * `docs/language-for-models.md`: the whole language on one page, written for models. Throws `ConfigError` when this package is
 * bundled into a host's own file, which does not contain the page.
 */
export function languageCard(): string {
  return page('#language');
}

/**
 * `docs/language-brief.md`: the language in less than half of that length. Throws `ConfigError` as {@link languageCard} does.
 */
export function languageBrief(): string {
  return page('#brief');
}

function page(name: string): string {
  const text = pages.get(name) ?? readFileSync(fileOf(name), 'utf8');
  pages.set(name, text);
  return text;
}

function fileOf(name: string): string {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch (cause) {
    // The import `#language` resolves only inside this package.
    throw new ConfigError("a bundle does not contain the page about the language; pass the option 'language'", { cause });
  }
}

const FIND = 'tool.meta.find';
const MAGIC = 'tool.aeiou.magic';

/** The section about tools; empty without tools. */
function toolCard(rules: string, tools: readonly ToolDefinition[], budget: number, brief: boolean): string {
  if (tools.length === 0) return '';
  const searched = tools.some(({ canonicalName, standard }) => standard && canonicalName === FIND);
  const [own, others] = [tools.filter(({ standard }) => !standard), tools.filter(({ standard }) => standard)];
  const parts = ['# Tools', rules.includes(MAGIC) ? 'No others can be called, magic aside.' : 'No others can be called.'];
  if (own.length > 0) parts.push(toolPrompt(own, { budget, brief }).text.trimEnd());
  if (searched) parts.push(namesOf(others));
  else if (others.length > 0) parts.push(toolPrompt(others, { budget, brief: true }).text.trimEnd());
  return parts.join('\n\n');
}

/** The section about loaded procedures; empty without any. */
function libraryCard(library: readonly LibraryEntry[], budget: number, brief: boolean): string {
  const text = procedurePrompt(library, { budget, brief }).trimEnd();
  return text === '' ? '' : `# Procedures\n\n${text}`;
}

/** The names of standard tools, one line a group. */
function namesOf(tools: readonly ToolDefinition[]): string {
  const groups = Map.groupBy(tools, ({ name }) => name.slice(0, name.lastIndexOf('.')));
  const lines = [...groups].map(([group, own]) => `${group}: ${own.map(({ name }) => name.slice(group.length + 1)).join(' ')}`);
  const head = 'Standard tools. `emit tool.meta.Find("split a text")` shows signatures for a purpose:';
  return [head, ...lines].join('\n');
}

/** System text and envelope as one text, for agents without a separate system prompt. The envelope comes last. */
export function fullPrompt({ system, prompt }: AgentRequest): string {
  return system === '' ? prompt : `${system}\n\nThis is the envelope of this turn. Reply with yours.\n\n${prompt}\n`;
}

/** Checks a time-out: at least 1 ms, and not longer than a timer can measure. */
export const checkTimeout = timerMs(1);

/** The sections of a page about what a program of one command block cannot define. */
const DEFINITIONS: ReadonlySet<string> = new Set(['## Procedures', '## Events']);

/**
 * A page about the language as it holds for programs with these tools: without the examples, entries, rows and paragraphs that name another
 * tool, and, unless programs may have procedures, without the sections about definitions.
 */
function fitted(page: string, tools: readonly ToolDefinition[], procedures: boolean): string {
  const known = new Set([MAGIC_TOOL, ...tools.map(({ canonicalName }) => canonicalName)]);
  const fits = (piece: string) => [...piece.matchAll(/\btool(?:\.\w+)+/g)].every(([name]) => known.has(name.toLowerCase()));
  const kept: string[] = [];
  let skips = false;
  for (const piece of piecesOf(page)) {
    if (piece.startsWith('#')) skips = !procedures && DEFINITIONS.has(piece);
    // What is left out leaves no second empty line behind.
    if (!skips && fits(piece) && (piece !== '' || kept.at(-1) !== '')) kept.push(piece);
  }
  return kept.join('\n').trim();
}

/** A page in pieces that stand alone: an example between fences is one piece, every other line another. */
function piecesOf(page: string): readonly string[] {
  const pieces: string[] = [];
  let fence: string | null = null;
  for (const line of page.split('\n')) {
    if (fence !== null) pieces.push(`${pieces.pop()}\n${line}`);
    else pieces.push(line);
    if (fence !== null ? line === fence : line.startsWith('```'))
      fence = fence === null ? line.slice(0, line.lastIndexOf('`') + 1) : null;
  }
  return pieces;
}
