import { SILENT_LOGGER } from '../../src/context/index.ts';
import { RealmSandbox } from '../../src/engine/sandbox.ts';
import { checkSettings, continued, type RunRequest, Runtime } from '../../src/runtime/index.ts';
import { ALLOW_ALL } from '../../src/testing/tools.ts';
import { type Completion, defineTool, RecordedCalls, type ToolDefinition, ToolError } from '../../src/tools/index.ts';
import type { JournalEntry } from '../../src/wire/journal.ts';
import type { RunInput } from '../../src/wire/protocol.ts';
import type { RunResult } from '../../src/wire/result.ts';
import type { Random } from '../fuzz/random.ts';

/** Calls that end when the test says so. */
export class Completions {
  readonly #random: Random;
  readonly #open: (() => void)[] = [];
  #pumping = false;
  /** The arguments of all calls that were made, in the order in which they began. */
  readonly begun: unknown[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** Resolves when it is this call's turn to end. */
  async wait(call: unknown): Promise<void> {
    this.begun.push(call);
    await new Promise<void>((resolve) => {
      this.#open.push(resolve);
      if (!this.#pumping) void this.#pump();
    });
  }

  /** Ends one open call after another, in a random order and with random pauses. */
  async #pump(): Promise<void> {
    this.#pumping = true;
    await new Promise(setImmediate);
    while (this.#open.length > 0) {
      const [end] = this.#open.splice(this.#random.int(this.#open.length), 1);
      end?.();
      for (let pause = this.#random.int(4); pause > 0; pause--) await null;
      if (this.#random.once(3)) await new Promise(setImmediate);
    }
    this.#pumping = false;
  }
}

/** Tools whose calls end in the order of `completions`. */
export function toolsOf(completions: Completions): readonly ToolDefinition[] {
  const wait = (...call: readonly unknown[]) => completions.wait(call.join(' '));
  return [
    defineTool({
      name: 'tool.t.Echo',
      args: [{ name: 'value', type: 'any' }],
      returns: 'any',
      run: async ({ value }) => {
        await wait('echo', value);
        if (value === 'bad') throw new ToolError(21, `no ${value}`);
        return value;
      },
    }),
    defineTool({
      name: 'tool.t.Read',
      args: [{ name: 'name', type: 'string' }],
      returns: 'any',
      run: async ({ name }, runtime) => {
        const first = await runtime.getVar(name);
        await wait('read', name);
        const second = await runtime.getVar(name);
        return [first ?? null, second ?? null, runtime.forkId];
      },
    }),
    defineTool({
      name: 'tool.t.Set',
      args: [
        { name: 'name', type: 'string' },
        { name: 'value', type: 'any' },
      ],
      run: async ({ name, value }, runtime) => {
        await wait('set', name);
        await runtime.setVar(name, value);
      },
    }),
    defineTool({
      name: 'tool.t.Outer',
      args: [{ name: 'value', type: 'any' }],
      returns: 'any',
      run: async ({ value }, runtime) => {
        await wait('outer', value);
        return [await runtime.callTool('tool.t.Echo', [`${value} inside`])];
      },
    }),
    defineTool({
      name: 'tool.t.Later',
      args: [{ name: 'value', type: 'any' }],
      returns: 'any',
      run: async ({ value }, runtime) => {
        await wait('later', value);
        return runtime.pending({ reason: `later ${value}` });
      },
    }),
  ];
}

/** A journal without the times that it measured. */
export function steady(journal: readonly JournalEntry[]): readonly unknown[] {
  return journal.map(({ ms: _, begin: __, ...entry }) => entry);
}

/** What must not depend on the order in which calls end. */
export function visible({ ok, emits, values, error, usage, journal, waiting, alsoWaiting }: RunResult): unknown {
  const { fuel, toolCalls, outputBytes } = usage;
  const waits = [waiting, ...(alsoWaiting ?? [])].map((call) => (call === undefined ? null : { ...call, ms: 0, begin: 0 }));
  return { ok, emits, values, error, fuel, toolCalls, outputBytes, journal: steady(journal), waits };
}

/** One run of a program whose calls end in an order of their own. */
export interface Permuted {
  readonly result: RunResult;
  readonly input: RunInput;
  /** What the tools were called with, in the order in which the calls began. */
  readonly begun: readonly unknown[];
  /** The calls in the order in which they ended. */
  readonly ended: readonly JournalEntry[];
}

/** Runs a program. `earlier` is the part of a journal that an earlier run has left. */
export async function permuted(source: string, random: Random, request: Partial<RunRequest> = {}): Promise<Permuted> {
  const completions = new Completions(random);
  const runtime = new Runtime(new RealmSandbox(), checkSettings({ tools: toolsOf(completions), policy: ALLOW_ALL }));
  let input: RunInput | null = null;
  const ended: JournalEntry[] = [];
  const result = await runtime
    .interpreter({ host: { logger: SILENT_LOGGER } })
    .fork({ id: 'f' })
    .runRequest({
      sources: [{ name: 'src', text: source }],
      mayWait: true,
      onInput: (made) => {
        input = made;
      },
      onCall: (entry) => ended.push(entry),
      ...request,
    });
  await runtime.close();
  if (input === null) throw new Error('the run had no input');
  return { result, input, begun: completions.begun, ended };
}

/** Runs a program again after a crash, with what of its journal had been stored. */
export function afterCrash(source: string, input: RunInput, stored: readonly JournalEntry[], random: Random): Promise<Permuted> {
  return permuted(source, random, { recorded: { input, calls: new RecordedCalls(stored, { known: () => null }) } });
}

/** Goes on with a run that waits. */
export function afterWait(
  source: string,
  { input, result }: Permuted,
  completions: readonly (Completion | null)[],
  random: Random,
): Promise<Permuted> {
  const { waiting, alsoWaiting, journal } = result;
  if (waiting === undefined) throw new Error('the run does not wait');
  const waits = { run: input, journal, waiting, alsoWaiting };
  return permuted(source, random, { recorded: continued(waits, completions, input.limits) });
}
