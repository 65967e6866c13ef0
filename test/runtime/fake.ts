import type { SandboxPort } from '../../src/runtime/index.ts';
import { Runtime } from '../../src/runtime/runtime.ts';
import { checkSettings, type RuntimeSettings } from '../../src/runtime/settings.ts';
import type { RunHandlers, SandboxResult } from '../../src/sandbox/index.ts';
import { cancelledError } from '../../src/wire/errorinfo.ts';
import { RuntimeClosedError } from '../../src/wire/errors.ts';
import type { GuestReply, GuestResult, OutFrame, RunInput, Source, TaggedJson } from '../../src/wire/protocol.ts';
import { NO_USAGE } from '../../src/wire/result.ts';
import type { CheckEnvironment, CheckReport, Diagnostic, FormatReport, ParsedFile } from '../../src/wire/sourcereports.ts';

/** What a fake program can do; the real one is a script in an isolate. */
export interface FakeGuest {
  readonly input: RunInput;
  readonly variables: Map<string, TaggedJson>;
  emit(text: string): void;
  whisper(to: string, text: string): void;
  tool(name: string, ...args: TaggedJson[]): Promise<GuestReply>;
}

/** Ends with its `result`, or with what differs from a success. */
export type FakeProgram = (guest: FakeGuest) => Promise<Partial<GuestResult> | undefined>;

/** An in-process sandbox: runs functions in place of scripts, so that the runtime is tested without workers. */
export class FakeSandbox implements SandboxPort {
  readonly inputs: RunInput[] = [];
  /** Whether each run was marked as part of another run's call. */
  readonly nested: boolean[] = [];
  closed = false;
  /** Tools that every source calls. */
  called: readonly string[] = [];
  /** What the last check was told. */
  environment: CheckEnvironment | undefined;
  #program: FakeProgram;

  constructor(program: FakeProgram) {
    this.#program = program;
  }

  async run(input: RunInput, handlers: RunHandlers, signal?: AbortSignal): Promise<SandboxResult> {
    if (this.closed) throw new RuntimeClosedError();
    this.inputs.push(input);
    this.nested.push(handlers.nested ?? false);
    const call = new AbortController();
    const cancelled = Promise.withResolvers<Partial<GuestResult>>();
    const cancel = (): void => {
      const error = cancelledError('the run was cancelled');
      call.abort(error);
      cancelled.resolve({ ok: false, error });
    };
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel);
    const ended = await Promise.race([this.#program(fakeGuest(input, handlers, call.signal)), cancelled.promise]);
    const result: GuestResult = {
      ok: true,
      phase: 'exec',
      result: null,
      eventErrors: [],
      error: null,
      fuel: 1,
      peakMemoryBytes: 2,
      toolCalls: 3,
      outputBytes: 4,
      ...ended,
    };
    return { result, usage: { ...NO_USAGE, fuel: 1 }, errors: [], outputComplete: true };
  }

  /** A line `func NAME` defines a procedure, `command` is a command block, `oops` a syntax error. */
  async parse(sources: readonly Source[]): Promise<{ diagnostics: readonly Diagnostic[]; files: readonly ParsedFile[] }> {
    const wrong = sources.filter(({ text }) => text.includes('oops'));
    const span = { s: 0, e: 4, line: 1, column: 2, endLine: 1, endColumn: 6 };
    return {
      diagnostics: wrong.map(({ name }) => ({ ...span, file: name, message: 'oops' })),
      files: sources.map(({ name, text }) => ({
        name,
        kind: 'library',
        commandBlocks: text.split('command').length - 1,
        signatures: [],
        metadata: [],
        procedures: [...text.matchAll(/func (\w+)/g)].map(([, procedure]) => procedure ?? ''),
        events: 0,
        tools: this.called,
      })),
    };
  }

  async foresee(): Promise<{ readonly diagnostics: []; readonly foreseen: null }> {
    return { diagnostics: [], foreseen: null };
  }

  async check(sources: readonly Source[], _bytes: number, environment: CheckEnvironment): Promise<CheckReport> {
    this.environment = environment;
    return { ...(await this.parse(sources)), findings: [], estimates: [] };
  }

  async format({ text }: Source): Promise<FormatReport> {
    return { text: text.trim(), diagnostics: [] };
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

function fakeGuest(input: RunInput, handlers: RunHandlers, signal: AbortSignal): FakeGuest {
  const variables = new Map<string, TaggedJson>();
  const out = (frame: Partial<OutFrame>): void => handlers.onOut({ t: 'out', emits: [], values: [], whispers: [], ...frame });
  let seq = 0;
  return {
    input,
    variables,
    emit: (text) => out({ emits: [text], values: [text] }),
    whisper: (to, text) => out({ whispers: [{ to, text }] }),
    tool: (name, ...args) => {
      const at = { fork: `${input.forkId}.1`, source: 'src', line: 1, column: 1 };
      const io = {
        signal,
        get over() {
          return signal.aborted;
        },
        whenOver: (callback: () => void) => {
          if (signal.aborted) callback();
          signal.addEventListener('abort', callback);
          return () => signal.removeEventListener('abort', callback);
        },
        queries: [],
        repeat: async () => {},
        getVar: async (key: string) => ({ found: variables.has(key), value: variables.get(key) ?? null }),
        defineConst: async () => null,
        setVar: async (key: string, value: TaggedJson) => {
          variables.set(key, value);
          return null;
        },
      };
      return handlers.onCall({ t: 'tool', seq: ++seq, name, args, at }, io);
    },
  };
}

/** A runtime over a fake sandbox, and that sandbox. */
export function fakeRuntime(program: FakeProgram, settings: RuntimeSettings = {}): { runtime: Runtime; sandbox: FakeSandbox } {
  const sandbox = new FakeSandbox(program);
  return { runtime: new Runtime(sandbox, checkSettings(settings)), sandbox };
}
