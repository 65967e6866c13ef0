import { RunEnd } from '../engine/sandbox.ts';
import type { SandboxPort } from '../runtime/index.ts';
import type { RunHandlers, SandboxResult } from '../sandbox/index.ts';
import type { CallIo, FinalReply } from '../wire/call.ts';
import { encode } from '../wire/codec.ts';
import { cancelledError, timeoutError } from '../wire/errorinfo.ts';
import { type ErrorInfo, RuntimeClosedError } from '../wire/errors.ts';
import type { CallSite, GuestResult, RunInput, TaggedJson } from '../wire/protocol.ts';
import { NO_USAGE } from '../wire/result.ts';

/** A call of a tool, as a program would make it. */
export interface PlannedCall {
  readonly name: string;
  readonly args: readonly TaggedJson[];
  /** The variables of the program, by name. The tool may set them. */
  readonly variables: Map<string, unknown>;
}

/** A sandbox without a process: each run makes one tool call. Everything on the host's side is real. */
export class CallSandbox implements SandboxPort {
  /** The call that the next run makes. */
  #planned: PlannedCall | null = null;
  #reply: FinalReply | null = null;
  #closed = false;

  /** Makes the call and returns the answer. `run` must run this sandbox once. */
  async makeCall(call: PlannedCall, run: () => Promise<unknown>): Promise<FinalReply> {
    this.#planned = call;
    this.#reply = null;
    await run();
    return this.#reply ?? { t: 'halt', error: cancelledError('the call was not made: its turn has ended') };
  }

  async run(input: RunInput, handlers: RunHandlers, signal?: AbortSignal): Promise<SandboxResult> {
    const planned = this.#planned;
    if (this.#closed || planned === null) throw new RuntimeClosedError();
    const { toolMs } = input.limits;
    const late = timeoutError({ limit: 'toolMs', allowed: toolMs }, `the call took longer than ${toolMs} ms`);
    using over = new RunEnd(toolMs, late, signal);
    const ended = new Promise<FinalReply>((resolve) => {
      over.signal.addEventListener('abort', () => resolve({ t: 'halt', error: over.signal.reason as ErrorInfo }), { once: true });
    });
    const at: CallSite = { fork: `${input.forkId}.1`, source: 'test', line: 1, column: 1 };
    const { name, args, variables } = planned;
    const made = handlers.onCall({ t: 'tool', seq: 1, name, args, at }, ioOf(variables, over.signal));
    const reply = over.signal.aborted ? await ended : await Promise.race([made, ended]);
    this.#reply = reply;
    return { result: resultOf(reply), usage: { ...NO_USAGE, toolCalls: 1 }, errors: [], outputComplete: true };
  }

  async parse(): Promise<{ readonly diagnostics: readonly []; readonly files: readonly [] }> {
    return { diagnostics: [], files: [] };
  }

  async check(): Promise<{ readonly diagnostics: []; readonly files: []; readonly findings: []; readonly estimates: [] }> {
    return { diagnostics: [], files: [], findings: [], estimates: [] };
  }

  async foresee(): Promise<{ readonly diagnostics: []; readonly foreseen: null }> {
    return { diagnostics: [], foreseen: null };
  }

  async format({ text }: { readonly text: string }): Promise<{ readonly text: string; readonly diagnostics: [] }> {
    return { text, diagnostics: [] };
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}

function ioOf(variables: Map<string, unknown>, signal: AbortSignal): CallIo {
  return {
    signal,
    get over() {
      return signal.aborted;
    },
    whenOver(callback) {
      if (signal.aborted) callback();
      signal.addEventListener('abort', callback, { once: true });
      return () => signal.removeEventListener('abort', callback);
    },
    queries: [],
    repeat: () => Promise.resolve(),
    getVar: async (name) => ({ found: variables.has(name), value: encode(variables.get(name)) }),
    setVar: async (name, value) => {
      variables.set(name, value);
      return null;
    },
    defineConst: async () => null,
  };
}

function resultOf(reply: FinalReply): GuestResult {
  const spent = { fuel: 0, peakMemoryBytes: 0, toolCalls: 1, outputBytes: 0 };
  const error = reply.t === 'halt' ? reply.error : null;
  return { ok: error === null, phase: 'exec', result: null, eventErrors: [], error, ...spent };
}
