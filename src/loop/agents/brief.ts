import { readFileSync } from 'node:fs';
import { systemPrompt } from '../../aeiou/index.ts';
import { type ToolDefinition, toolPrompt } from '../../tools/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import type { AgentRequest } from './agent.ts';

/** What an {@link agentBrief} is made from. */
export interface AgentBrief {
  /** What a program may do and how it says so: `systemPrompt()` when absent, `v1SystemPrompt()` for a v1 loop. */
  readonly rules?: string;
  /** The tools that a program may call, in the order in which they are shown. */
  readonly tools?: readonly ToolDefinition[];
  /**
   * Most tokens for the tools, as `estimateTokens` counts them: 6,000 when absent. Where not everything about all of them fits, every
   * tool is called by its signature first; `tool.tools.Help` knows the rest.
   */
  readonly toolTokens?: number;
  /** The language in one page: {@link languageCard} when absent; '' leaves it out, for models that know it. */
  readonly language?: string;
}

/** All the standard tools with their first sentences, and as much again; a tenth of a small model's context. */
const TOOL_TOKENS = 6_000;

/** What an agent must know beside the envelope of a turn: rules (A3-14-1), tools, language, in this order. Throws {@link ConfigError} for a budget in which no tool fits. */
export function agentBrief({
  rules = systemPrompt(),
  tools = [],
  toolTokens = TOOL_TOKENS,
  language = languageCard(),
}: AgentBrief = {}): string {
  return [rules.trimEnd(), toolCard(tools, toolTokens), language.trimEnd()].filter((part) => part !== '').join('\n\n');
}

let card: string | null = null;

/** `docs/language-for-models.md`: the whole language on one page, written for models. */
export function languageCard(): string {
  card ??= readFileSync(new URL(import.meta.resolve('#language')), 'utf8');
  return card;
}

/** The tools as a model should call them. */
function toolCard(tools: readonly ToolDefinition[], budget: number): string {
  return tools.length === 0
    ? ''
    : `# Tools\n\nThese can be called, and no others.\n\n${toolPrompt(tools, { budget }).text.trimEnd()}`;
}

/** System text and envelope as one text, for agents that have no place of its own for the first. The envelope is last. */
export function fullPrompt({ system, prompt }: AgentRequest): string {
  return system === '' ? prompt : `${system}\n\nThis is the envelope of this turn. Reply with yours.\n\n${prompt}\n`;
}

/** Most milliseconds that can be waited for: the longest delay of a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Throws {@link ConfigError} for a time that cannot be waited for. */
export function checkTimeout(ms: number): number {
  if (Number.isSafeInteger(ms) && ms >= 1 && ms <= MAX_TIMEOUT_MS) return ms;
  throw new ConfigError(`timeoutMs of an agent must be a whole number of milliseconds from 1, got ${String(ms)}`);
}
