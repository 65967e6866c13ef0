import { SILENT_LOGGER, type TurnContext } from '../../src/context/index.ts';
import { rootTurn } from '../../src/context/turn.ts';
import type { Agent } from '../../src/loop/agents/agent.ts';
import type { TurnExecutor, TurnForkInit } from '../../src/loop/turn/executor.ts';
import { shapeProblem } from '../../src/wire/admission.ts';
import { cancelledError, languageError } from '../../src/wire/errorinfo.ts';
import type { ErrorInfo } from '../../src/wire/errors.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import type { Source, TaggedJson, Whisper } from '../../src/wire/protocol.ts';
import { type RunFailure, type RunResult, refusedResult } from '../../src/wire/result.ts';
import type { ParsedFile } from '../../src/wire/sourcereports.ts';
import { RunError } from '../../src/wire/text/runerror.ts';
import { reply } from '../aeiou/kit.ts';

export { newKeyring, reply, TestClock } from '../aeiou/kit.ts';

export interface ProgramIo {
  readonly context: TurnContext;
  readonly globals: Readonly<Record<string, TaggedJson>>;
  emit(text: string): void;
  whisper(text: string): void;
  /** Calls the turn's own magic tool. */
  magic(action: string, extra?: object, opts?: object): Promise<string>;
}

export type Program = (io: ProgramIo) => void | Promise<void> | ErrorInfo | Promise<ErrorInfo | undefined>;

/** What the fake saw, in order. */
export interface Spy {
  readonly forks: TurnForkInit[];
  readonly calls: string[];
  running: number;
  mostRunning: number;
}

/**
 * An executor without a sandbox: ACTIONS `program NAME` runs the JavaScript function of that name. Everything around the
 * program (context, magic tool, tokens, decision) is real.
 */
export function fakeExecutor(
  programs: Readonly<Record<string, Program>>,
  denied: readonly string[] = [],
): TurnExecutor & { readonly spy: Spy } {
  const root = rootTurn(Date.now);
  const spy: Spy = { forks: [], calls: [], running: 0, mostRunning: 0 };
  return {
    spy,
    limits: defaultLimits('turn'),
    context(init) {
      spy.calls.push('context');
      return root.derive(init);
    },
    fork(init) {
      spy.calls.push('fork');
      spy.forks.push(init);
      return {
        async execute({ sources: [source = { name: '', text: '' }] = [], globals = {}, onOut }) {
          const reason = rejection(source, denied);
          if (reason !== null) return { ...refusedResult(reason.error), ...reason };
          if (init.context.aborted) return result([], [], cancelledError('the turn has ended'));
          spy.calls.push('execute');
          spy.running += 1;
          spy.mostRunning = Math.max(spy.mostRunning, spy.running);
          const emits: string[] = [];
          const whispers: Whisper[] = [];
          const program = programs[source.text.replace(/^program (\S+).*$/s, '$1')];
          if (program === undefined) throw new Error(`no program for ${source.text}`);
          const error = await program({
            context: init.context,
            globals,
            emit: (text) => void emits.push(text),
            whisper: (text) => void whispers.push({ to: 'default_self_buffer', text }),
            async magic(action, extra = {}, opts) {
              const [tool] = init.tools;
              const site = { fork: 'f', source: 'ACTIONS', line: 1, column: 1 };
              const runtime = { turn: init.context, site, signal: init.context.signal, logger: SILENT_LOGGER };
              // The magic tool reads of its runtime nothing but these four.
              const token: unknown = await tool?.run(
                { kind: 'LOOP', payload: { action, ...extra }, opts },
                runtime as Parameters<typeof tool.run>[1],
              );
              return String(token);
            },
          });
          onOut?.({ t: 'out', emits, values: emits, whispers });
          spy.running -= 1;
          return result(emits, whispers, error ?? null);
        },
      };
    },
  };
}

/** Why a worker would reject ACTIONS; null when they run. */
function rejection({ name, text }: Source, denied: readonly string[]): Pick<RunFailure, 'error' | 'errors' | 'findings'> | null {
  const site = { source: name, line: 1, column: 1 };
  const place = { file: name, line: 1, column: 1, endLine: 1, endColumn: 2 };
  const wrong = (message: string, line: number): Pick<RunFailure, 'error' | 'errors'> => ({
    error: new RunError(languageError(15, message, { ...site, line }), []),
    errors: [{ ...place, s: 0, e: 1, line, message }],
  });
  if (text.startsWith('broken')) return wrong('unexpected text', 2);
  const kind: ParsedFile['kind'] = text.startsWith('library') ? 'library' : text === '' ? 'empty' : 'commands';
  const shape = shapeProblem({ kind, commandBlocks: text.startsWith('two') ? 2 : kind === 'commands' ? 1 : 0 });
  if (shape !== null) return wrong(shape, 1);
  const tool = [...text.matchAll(/tool\.\w+\.\w+/g)].map(([each]) => each).find((each) => denied.includes(each));
  if (tool === undefined) return null;
  const message = `tool '${tool}' denied by policy rule: ${tool}`;
  const found = {
    code: 'LINT_DENIED_TOOL',
    severity: 'error',
    ...place,
    message,
    fix: { message: '', edits: [] },
    tool,
  } as const;
  return { error: new RunError(languageError(1003, message, site), []), findings: [found] };
}

function result(emits: readonly string[], whispers: readonly Whisper[], error: ErrorInfo | null): RunResult {
  const facts = {
    phase: 'exec',
    emits,
    values: emits,
    whispers,
    result: null,
    eventErrors: [],
    usage: { fuel: 12, cpuMs: 0.4, wallMs: 1.9, peakMemoryBytes: 4096, toolCalls: 0, outputBytes: 5, queueMs: 0 },
    journal: [],
  } as const;
  return error === null ? { ok: true, ...facts, error } : { ok: false, ...facts, error: new RunError(error, []) };
}

export const USERDATA = { subject: 'test', fields: {} };

/** An agent that answers turn N with the N-th program, and with the last one after that. */
export function programAgent(...programs: readonly string[]): Agent & { readonly prompts: string[] } {
  const prompts: string[] = [];
  return {
    prompts,
    async reply({ turn, prompt }) {
      prompts.push(prompt);
      return reply(`program ${programs[Math.min(turn, programs.length) - 1]}`);
    },
  };
}
