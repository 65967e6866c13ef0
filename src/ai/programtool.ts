import { z } from 'zod';
import { agentBrief, type Problem, problemsIn, rangeOf } from '../loop/index.ts';
import type { RunOptions, Runtime } from '../runtime/index.ts';
import { anything, checker, checkText, wholeNumber } from '../wire/options.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import type { RunResult } from '../wire/result.ts';

/** The part of the options of a run that all programs of a model share. */
type Shared = Pick<RunOptions, 'tools' | 'policy' | 'session' | 'tenant' | 'values' | 'limits' | 'host' | 'actor' | 'lib'>;

/** Options of {@link neuroscriptTool}: how its programs run, and what the model is told. */
export interface NeuroscriptToolOptions extends Shared {
  /** What programs are for, in the words of the application; it comes first in the description. */
  readonly purpose?: string;
  /** Most tokens for the application's tools in the description, as `toolTokens` of `agentBrief`, which makes it. */
  readonly toolTokens?: number;
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
    /** All of it for a reader: place, message, the line with a caret, the hint. */
    readonly text: string;
  } | null;
  /** Everything that is wrong with a program that could not run, or may have caused the failure of one that ran. */
  readonly problems: readonly Problem[];
  /** What the model should know of a program that is ok: that nothing was run. */
  readonly warnings: readonly string[];
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

/** Bytes that a program may emit: more would fill the model's context. `limits` may allow less. */
const OUTPUT_BYTES = 64 * 1024;

const checkOptions = checker<NeuroscriptToolOptions>({
  // `run` checks what it takes.
  ...{ tools: anything, policy: anything, session: anything, tenant: anything, values: anything },
  ...{ limits: anything, host: anything, actor: anything, lib: anything },
  purpose: checkText,
  toolTokens: wholeNumber(1),
});

const INPUT = z.object({
  program: z.string().describe('A NeuroScript program: one command block. Emit what you want to see.'),
});

/**
 * A tool of the AI SDK with which a model runs a program in place of many calls of tools. Its description holds the language in brief and
 * the tools that the policy admits. When the SDK's call is aborted, the run is cancelled. Throws `ConfigError`
 * (`ERR_CONFIG`) for options that cannot be used and for tokens in which no tool fits.
 */
export function neuroscriptTool(runtime: Runtime, options: NeuroscriptToolOptions = {}): NeuroscriptTool {
  checkOptions('the options of a program tool', options);
  const { purpose, toolTokens, ...shared } = options;
  return {
    description: descriptionOf(shared, runtime, purpose, toolTokens),
    inputSchema: INPUT,
    async execute({ program }, { abortSignal } = {}) {
      const limits = { ...shared.limits, outputBytes: Math.min(OUTPUT_BYTES, shared.limits?.outputBytes ?? OUTPUT_BYTES) };
      const settings = { signal: abortSignal, limits, name: 'program', checkFirst: true, explain: true };
      return outputOf(await runtime.run(program, { ...shared, ...settings }), program);
    },
    toModelOutput: ({ output }) => ({ type: output.ok ? 'text' : 'error-text', value: textOf(output) }),
  };
}

/** What the model is told: purpose, what becomes of a program, the language and the tools. */
function descriptionOf(
  { tools, policy }: Shared,
  runtime: Runtime,
  purpose: string | undefined,
  budget: number | undefined,
): string {
  const rules = [purpose, HEAD].filter((part) => part !== undefined).join('\n\n');
  return agentBrief({ rules, tools: runtime.interpreter().fork({ tools, policy }).callable, toolTokens: budget });
}

const HEAD = `Runs one NeuroScript program in a sandbox and returns what it emits. One program can make many calls of tools.

- A program with mistakes does not run: you get them all, each with its line and what to write.
- A program that fails shows what it had emitted, and the error. The calls that it made are not undone.
- Nothing is kept: the next program starts without variables.`;

function outputOf(result: RunResult, program: string): NeuroscriptOutput {
  const { ok, emits, values, error, usage, warnings = [] } = result;
  const failure =
    error === null
      ? null
      : (({ code, message, line, column, hint = null, text }) => ({ code, message, line, column, hint, text }))(error);
  const problems = problemsIn(result, program).slice(0, MOST_PROBLEMS);
  return { ok, output: emits, values, error: failure, problems, warnings, fuel: usage.fuel };
}

/** Most problems of a program that the model reads. */
const MOST_PROBLEMS = 20;

/** What the model reads: the output, and after a failure where and why, for every problem of a program that could not run. */
function textOf({ output, error, problems, warnings }: NeuroscriptOutput): string {
  if (error === null) return [...output, ...warnings].join('\n');
  const failures = problems.length === 0 ? [{ ...error, fix: [] }] : problems;
  return [...output, ...failures.map(failureText)].join('\n');
}

function failureText({
  code,
  message,
  line,
  column,
  hint,
  fix,
}: Omit<NonNullable<NeuroscriptOutput['error']>, 'text'> & Pick<Problem, 'fix'>): string {
  const place = line === null ? '' : ` at ${line}:${column ?? 1}`;
  const corrected = fix.map((lines) => `\n  in place of line ${rangeOf(lines)} write: ${lines.text.trim()}`);
  return `[ERROR] ${code}${place}: ${message}${hint === null ? '' : ` (${hint})`}${corrected.join('')}`;
}
