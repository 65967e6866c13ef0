import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { systemPrompt } from '../../aeiou/index.ts';
import { type ToolDefinition, toolPrompt } from '../../tools/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import { timerMs } from '../../wire/options.ts';
import type { AgentRequest } from './agent.ts';

/** Options of {@link agentBrief}. */
export interface AgentBrief {
  /** The rules for programs: `systemPrompt()` when absent; pass `v1SystemPrompt()` for a v1 loop. */
  readonly rules?: string;
  /** The tools that a program may call, in the order of presentation. */
  readonly tools?: readonly ToolDefinition[];
  /**
   * Most tokens for the tools, as `estimateTokens` counts them; when absent 45 for each tool, at least 450 and at most 6,000. Signatures
   * take precedence over descriptions, and `tool.tools.Help` explains the rest.
   */
  readonly toolTokens?: number;
  /**
   * {@link languageBrief} when absent: with the rules and ten tools at most 1,500 tokens. Pass {@link languageCard} for the language on one
   * page, with all operators and a table of common mistakes, or '' for models that know the language.
   */
  readonly language?: string;
  /** For a small context: lists only the signatures of tools. False when absent. */
  readonly small?: boolean;
}

/** Enough for a signature, the first sentence, and a part of the description. */
const TOKENS_OF_A_TOOL = 45;
const LEAST_TOOL_TOKENS = 450;
/** Twice what the standard tools need with their first sentences; a tenth of a small model's context. */
const MOST_TOOL_TOKENS = 6_000;

/** The system text of an agent: rules, tools and language, in this order. Throws `ConfigError` for a budget in which no tool fits. */
export function agentBrief({
  rules = systemPrompt(),
  tools = [],
  toolTokens = Math.min(MOST_TOOL_TOKENS, Math.max(LEAST_TOOL_TOKENS, TOKENS_OF_A_TOOL * tools.length)),
  small = false,
  language = languageBrief(),
}: AgentBrief = {}): string {
  return [rules.trimEnd(), toolCard(tools, toolTokens, small), language.trimEnd()].filter((part) => part !== '').join('\n\n');
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
 * `docs/language-brief.md`: the language for a small context, less than half as long. Throws `ConfigError` as {@link languageCard} does.
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

/** The section about tools; empty without tools. */
function toolCard(tools: readonly ToolDefinition[], budget: number, brief: boolean): string {
  return tools.length === 0
    ? ''
    : `# Tools\n\nThese can be called, and no others.\n\n${toolPrompt(tools, { budget, brief }).text.trimEnd()}`;
}

/** System text and envelope as one text, for agents without a separate system prompt. The envelope comes last. */
export function fullPrompt({ system, prompt }: AgentRequest): string {
  return system === '' ? prompt : `${system}\n\nThis is the envelope of this turn. Reply with yours.\n\n${prompt}\n`;
}

/** Checks a time-out: at least 1 ms, and not longer than a timer can measure. */
export const checkTimeout = timerMs(1);
