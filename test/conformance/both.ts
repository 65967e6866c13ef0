import { createHostContext, type Runtime, SILENT_LOGGER, type ToolDefinition } from '../../src/entries/index.ts';
import type { ErrorInfo } from '../../src/wire/errors.ts';
import type { EventError, EventInput, TaggedJson, Whisper } from '../../src/wire/protocol.ts';
import { plainMaps } from '../../src/wire/tagged.ts';
import { drive, type TestTool } from '../guest/driver.ts';
import type { Chunk, Expected } from './chunks.ts';

/** All that the two ways of running a program must agree on. */
export interface Outcome {
  readonly emits: readonly string[];
  readonly values: readonly TaggedJson[];
  readonly whispers: readonly Whisper[];
  readonly prompts: readonly string[];
  readonly eventErrors: readonly EventError[];
  readonly error: ErrorInfo | null;
  readonly fuel: number;
  readonly peakMemoryBytes: number;
}

/** The same tools for a program in this process and for one in the sandbox. */
export interface Tools {
  readonly here: Readonly<Record<string, TestTool>>;
  readonly sandbox: readonly ToolDefinition[];
}

const SOURCE = 'test.ns';

/** Runs a program in this process. */
export function inProcess(chunk: Chunk, tools: Tools['here'], pure: readonly string[] | true = []): Outcome {
  const { emits, values, whispers, calls, eventErrors, error, fuel, peakMemoryBytes } = drive(chunk.source, {
    call: isMain(chunk) ? 'main' : null,
    globals: globalsOf(chunk),
    stdin: chunk.stdin,
    limits: chunk.limits,
    events: eventsOf(chunk),
    tools,
    pure,
  });
  const prompts = calls.flatMap((call) => (call.t === 'prompt' ? [call.text] : []));
  return { emits, values: values.map(plainMaps), whispers, prompts, eventErrors, error, fuel, peakMemoryBytes };
}

/** Runs a program in a worker's isolate, as a user does. */
export async function inSandbox(runtime: Runtime, chunk: Chunk, tools: Tools['sandbox']): Promise<Outcome> {
  const asked: string[] = [];
  const host = createHostContext({
    logger: SILENT_LOGGER,
    stdout: { write: (text: string) => asked.push(text) },
    ...(chunk.stdin === null ? {} : { stdin: chunk.stdin.map((line) => `${line}\n`) }),
  });
  const fork = runtime.interpreter({ host }).fork({ tools, ...(chunk.policy === null ? {} : { policy: chunk.policy }) });
  const { emits, values, whispers, eventErrors, error, usage } = await fork.runRequest({
    sources: [{ name: SOURCE, text: chunk.source }],
    globals: globalsOf(chunk),
    limits: chunk.limits,
    events: eventsOf(chunk),
    ...(isMain(chunk) ? { call: { name: 'main', args: [] } } : {}),
  });
  const prompts = asked.map((text) => text.replace(/ $/, ''));
  const { fuel, peakMemoryBytes } = usage;
  return { emits, values, whispers, prompts, eventErrors, error, fuel, peakMemoryBytes };
}

export function isMain({ events, source }: Chunk): boolean {
  return events.length === 0 && /^func main\b/m.test(source);
}

export function globalsOf({ globals }: Chunk): Record<string, TaggedJson> {
  return globals as Record<string, TaggedJson>;
}

export function eventsOf({ events }: Chunk): readonly EventInput[] {
  return events.map(({ name, payload }) => ({ name, source: 'src', payload: payload as TaggedJson }));
}

/** What a run did, in the words of an expectation; of an error only what the expectation speaks of. */
export function observed({ values, emits, whispers, prompts, eventErrors, error }: Outcome, wanted: Expected): Expected {
  return {
    emits: values.map((value, index) => (typeof value === 'string' ? JSON.stringify(value) : (emits[index] ?? ''))),
    whispers: whispers.map(({ to, text }) => `${to}: ${text}`),
    prompts,
    eventErrors: eventErrors.map(({ error: reported }) => reported.nsCode ?? -1),
    error: error === null ? null : observedError(error, wanted.error),
  };
}

function observedError(error: ErrorInfo, wanted: Expected['error']): NonNullable<Expected['error']> {
  const code = error.kind === 'syntax' ? 'syntax' : error.code;
  if (wanted === null) return { code: `${code} ${error.line}:${error.column} ${error.message}` };
  return {
    code,
    ...(wanted.line === undefined || error.line === null ? {} : { line: error.line }),
    ...(wanted.column === undefined || error.column === null ? {} : { column: error.column }),
    ...(wanted.limit !== undefined && error.limit !== undefined && { limit: error.limit }),
  };
}
