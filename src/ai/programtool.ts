import { z } from 'zod';
import { languageCard, type Problem, problemsIn } from '../loop/index.ts';
import type { RunOptions, Runtime } from '../runtime/index.ts';
import { estimateTokens, type ToolDefinition, toolPrompt } from '../tools/index.ts';
import { anything, checker, checkText, wholeNumber } from '../wire/options.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import type { RunResult } from '../wire/result.ts';

/** The part of the options of a run that all programs of a model share. */
type Shared = Pick<RunOptions, 'tools' | 'policy' | 'session' | 'tenant' | 'values' | 'limits' | 'host' | 'actor' | 'lib'>;

/** Options of {@link neuroscriptTool}: how its programs run, and what the model is told. */
export interface NeuroscriptToolOptions extends Shared {
  /** What programs are for, in the words of the application; it comes first in the description. */
  readonly purpose?: string;
  /** Most tokens of the description, as `estimateTokens` counts them: language and tools; 6,000 when absent. */
  readonly budget?: number;
}

/** The result of a program, for the model and the application. */
export interface NeuroscriptOutput {
  /** True when the program came to its end. */
  readonly ok: boolean;
  /** One text for each `emit`. */
  readonly output: readonly string[];
  /** The emitted values, in tagged JSON. */
  readonly values: readonly TaggedJson[];
  /** Why the program failed; null when it did not. */
  readonly error: {
    /** Stable, with a page in `docs/errors/`. */
    readonly code: string;
    /** What went wrong, as a sentence. */
    readonly message: string;
    /** 1-based line of the program; null where no line is the cause. */
    readonly line: number | null;
    /** 1-based column, in code points. */
    readonly column: number | null;
    /** What to write instead; null when nothing is known. */
    readonly hint: string | null;
  } | null;
  /** Everything that is wrong with a program that could not run; empty for one that ran. */
  readonly problems: readonly Problem[];
  /** Fuel that the program used. */
  readonly fuel: number;
}

/** A tool of the AI SDK, for `tools` of `generateText`, `streamText` and agents. */
export interface NeuroscriptTool {
  /** Tells the model when to use the tool, the language, and the tools that programs can call. */
  readonly description: string;
  /** One argument: the text of a program. */
  readonly inputSchema: z.ZodType<{ program: string }>;
  /** Runs a program that may run as a whole. Resolves also for one that fails; rejects as `Runtime.run` does. */
  readonly execute: (
    input: { readonly program: string },
    options?: { readonly abortSignal?: AbortSignal | undefined },
  ) => Promise<NeuroscriptOutput>;
  /** What the model reads of an output: emits, values and the error, as text. */
  readonly toModelOutput: (options: { readonly output: NeuroscriptOutput }) => {
    type: 'text' | 'error-text';
    value: string;
  };
}

const BUDGET = 6_000;
/** Bytes that a program may emit: more would fill the model's context. `limits` may allow less. */
const OUTPUT_BYTES = 64 * 1024;

const checkOptions = checker<NeuroscriptToolOptions>({
  // `run` checks what it takes.
  ...{ tools: anything, policy: anything, session: anything, tenant: anything, values: anything },
  ...{ limits: anything, host: anything, actor: anything, lib: anything },
  purpose: checkText,
  budget: wholeNumber(1),
});

const INPUT = z.object({
  program: z.string().describe('A NeuroScript program: one command block. Emit what you want to see.'),
});

/**
 * A tool of the AI SDK with which a model runs a program in place of many calls of tools. Its description holds the language and the
 * tools that the policy admits, within a budget. When the SDK's call is aborted, the run is cancelled. Throws `ConfigError`
 * (`ERR_CONFIG`) for options that cannot be used and for a budget in which no tool fits.
 */
export function neuroscriptTool(runtime: Runtime, options: NeuroscriptToolOptions = {}): NeuroscriptTool {
  checkOptions('the options of a program tool', options);
  const { purpose, budget = BUDGET, ...shared } = options;
  return {
    description: descriptionOf(admitted(runtime, shared), shared.tools ?? [], purpose, budget),
    inputSchema: INPUT,
    async execute({ program }, { abortSignal } = {}) {
      const limits = { ...shared.limits, outputBytes: Math.min(OUTPUT_BYTES, shared.limits?.outputBytes ?? OUTPUT_BYTES) };
      const settings = { signal: abortSignal, limits, name: 'program', checkFirst: true };
      return outputOf(await runtime.run(program, { ...shared, ...settings }), program);
    },
    toModelOutput: ({ output }) => ({ type: output.ok ? 'text' : 'error-text', value: textOf(output) }),
  };
}

/** The tools that programs may call. */
function admitted(runtime: Runtime, { tools, policy }: Shared): readonly ToolDefinition[] {
  const fork = runtime.interpreter().fork({
    tools,
    policy,
  });
  const names = fork.tools.names().filter((name) => fork.denied(name) === null);
  return names.flatMap((name) => fork.tools.lookup(name) ?? []);
}

/** Tools of the call's own come first where the budget is short. */
function descriptionOf(
  tools: readonly ToolDefinition[],
  own: readonly ToolDefinition[],
  purpose: string | undefined,
  budget: number,
): string {
  const prefer = own.map(({ name }) => name);
  const head = 'Runs one NeuroScript program in a sandbox and returns what it emits. One program can make many calls of tools.';
  const first = [purpose, head].filter((part) => part !== undefined).join('\n\n');
  const language = languageWithin(Math.floor((budget - estimateTokens(first)) / 2));
  const parts = [first, language];
  const left = Math.max(1, budget - estimateTokens(parts.join('\n\n')) - 1);
  if (tools.length > 0) parts.push(toolPrompt(tools, { budget: left, prefer }).text.trimEnd());
  return parts.filter((part) => part !== '').join('\n\n');
}

/** The sections of the page about the language that fit, from the first on. */
function languageWithin(budget: number): string {
  let text = '';
  for (const section of languageCard().trimEnd().split('\n## ')) {
    const longer = text === '' ? section : `${text}\n## ${section}`;
    if (estimateTokens(longer) > budget) break;
    text = longer;
  }
  return text;
}

function outputOf(result: RunResult, program: string): NeuroscriptOutput {
  const { ok, emits, values, error, usage } = result;
  const failure =
    error === null
      ? null
      : { code: error.code, message: error.message, line: error.line, column: error.column, hint: error.hint ?? null };
  const problems = problemsIn(result, program).slice(0, MOST_PROBLEMS);
  return { ok, output: emits, values, error: failure, problems, fuel: usage.fuel };
}

/** Most problems of a program that the model reads. */
const MOST_PROBLEMS = 20;

/** What the model reads: the output, and after a failure where and why, for every problem of a program that could not run. */
function textOf({ output, error, problems }: NeuroscriptOutput): string {
  if (error === null) return output.join('\n');
  const failures = problems.length === 0 ? [{ ...error, fix: null }] : problems;
  return [...output, ...failures.map(failureText)].join('\n');
}

function failureText({
  code,
  message,
  line,
  column,
  hint,
  fix,
}: NonNullable<NeuroscriptOutput['error']> & { readonly fix: string | null }): string {
  const place = line === null ? '' : ` at ${line}:${column ?? 1}`;
  const corrected = fix === null ? '' : `\n  write: ${fix.trim()}`;
  return `[ERROR] ${code}${place}: ${message}${hint === null ? '' : ` (${hint})`}${corrected}`;
}
