import { parse } from '../../grammar/index.ts';
import { runInRealm } from '../engine/realm.ts';
import { tools as PURE } from '../guest/pure/index.ts';
import { type LimitOptions, resolveLimits } from '../sandbox/limits.ts';
import { decode } from '../wire/codec.ts';
import { NS_CODES } from '../wire/codes.ts';
import { languageError } from '../wire/errorinfo.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import { checkEvents } from '../wire/eventinput.ts';
import { checkTagged } from '../wire/foreign.ts';
import type { EventError, EventInput, GuestInput, GuestResult, Phase, Source, TaggedJson, Whisper } from '../wire/protocol.ts';
import type { Diagnostic } from '../wire/sourcereports.ts';
import { plainMaps } from '../wire/tagged.ts';
import { RunError } from '../wire/text/runerror.ts';
import type { Value } from '../wire/values.ts';
import { type PageCall, PageHost, type PageTool } from './host.ts';

/** How a page runs a program. Every part has a default. */
export interface PageRunOptions {
  /** Name of the source in errors; `src` when absent, as for `runtime.run`. */
  readonly name?: string;
  /** Tools by name. They run in the page, at once, with all its rights; the pure standard tools are there besides. */
  readonly tools?: Readonly<Record<string, PageTool>>;
  /** Globals by name, as tagged JSON. */
  readonly globals?: Readonly<Record<string, TaggedJson>>;
  /** A procedure to call after the command blocks. */
  readonly call?: { readonly name: string; readonly args: readonly TaggedJson[] };
  /** Events to deliver at the end. */
  readonly events?: readonly EventInput[];
  /** Lines that `promptuser` reads; without them it fails with code 26. */
  readonly lines?: readonly string[];
  /** As of a run in the sandbox. Memory counts the program's values; `cpuMs` and `wallMs` both count elapsed time here. */
  readonly limits?: LimitOptions;
}

/** What a program did in a page. Emits, values, whispers, error, fuel and memory are those of a run in the sandbox. */
export interface PageResult {
  /** True when the program came to its end. */
  readonly ok: boolean;
  /** The phase in which the program ended. */
  readonly phase: Phase;
  /** The value of the called procedure, or nil. */
  readonly result: Value;
  /** The text of each `emit`, in order. */
  readonly emits: readonly string[];
  /** The emitted values as tagged JSON. */
  readonly values: readonly TaggedJson[];
  /** What the program whispered, in order. */
  readonly whispers: readonly Whisper[];
  /** Errors that event handlers did not clear. */
  readonly eventErrors: readonly (EventError & { readonly error: RunError })[];
  /** Why the program ended; null when it came to its end. */
  readonly error: RunError | null;
  /** All syntax errors; the program did not run then. */
  readonly diagnostics: readonly Diagnostic[];
  /** The calls of tools, in order. */
  readonly calls: readonly PageCall[];
  /** What the program used: fuel, bytes and counts. */
  readonly usage: {
    /** Fuel that was used. */
    readonly fuel: number;
    /** Most bytes of values alive at once, by the published prices. */
    readonly peakMemoryBytes: number;
    /** Calls of tools. */
    readonly toolCalls: number;
    /** Bytes of all emits with their line feeds, in UTF-8. */
    readonly outputBytes: number;
    /** Elapsed milliseconds. */
    readonly wallMs: number;
  };
}

/**
 * Runs a program in this realm, without isolate, worker or Node, and returns when it has ended. The interpreter keeps fuel, memory,
 * depth and output within the limits. Nothing else separates the program from the page: run it in a Web Worker that you can end, and do not give it
 * programs of strangers where a hole in the interpreter would matter. Throws `ConfigError` for a wrong limit or event, and for a value that is not
 * tagged JSON.
 */
export function runInPage(source: string, options: PageRunOptions = {}): PageResult {
  const { name = 'src', tools = {}, globals = {}, call = null, events = [], lines = null } = options;
  checkEvents('the events', events);
  const limits = resolveLimits('run', options.limits ?? {});
  const parsed = parse(source, { name, maxBytes: limits.sourceBytes });
  const host = new PageHost(tools, lines);
  if (!parsed.ok)
    return unparsed(
      parsed.errors.map((error) => ({ ...error, file: name })),
      { name, text: source },
      host,
    );
  const input: GuestInput = {
    files: [parsed.file],
    globals: Object.fromEntries(Object.entries(globals).map(([key, value]) => [key, checkTagged(`global ${key}`, value)])),
    pure: [...PURE.keys()].filter((tool) => !host.has(tool)),
    call: call && { ...call, args: call.args.map((arg, index) => checkTagged(`argument ${index + 1} of ${call.name}`, arg)) },
    events: events.map((event, index) => ({
      ...event,
      payload: checkTagged(`payload of event ${event.name}`, event.payload),
      id: event.id ?? `page.event.${index + 1}`,
      ts: event.ts ?? Date.now() * 1e6,
    })),
    limits,
    forkId: 'page',
    turn: false,
    stdin: lines !== null,
  };
  const start = performance.now();
  const elapsed = (): number => performance.now() - start;
  const clock = (): number => {
    const now = elapsed();
    if (now >= limits.cpuMs) return 1;
    return now >= limits.wallMs ? 2 : 0;
  };
  return resultOf(
    runInRealm(input, { onOut: (out) => host.out.add(out), answer: (call) => host.answer(call), clock }),
    [],
    { name, text: source },
    host,
    elapsed(),
  );
}

function resultOf(
  outcome: GuestResult,
  diagnostics: readonly Diagnostic[],
  program: Source,
  host: PageHost,
  wallMs: number,
): PageResult {
  const { ok, phase, fuel, peakMemoryBytes, toolCalls, outputBytes } = outcome;
  const eventErrors = outcome.eventErrors.map((each) => ({ ...each, error: new RunError(each.error, [program]) }));
  const error = outcome.error && new RunError(outcome.error, [program], diagnostics);
  const { out, calls } = host;
  const { emits, whispers } = out;
  const values = out.values.map(plainMaps);
  const result = decode(outcome.result);
  const usage = { fuel, peakMemoryBytes, toolCalls, outputBytes, wallMs };
  return { ok, phase, result, emits, values, whispers, eventErrors, error, diagnostics, calls, usage };
}

function unparsed(diagnostics: readonly Diagnostic[], program: Source, host: PageHost): PageResult {
  const [first] = diagnostics;
  const at = first === undefined ? undefined : { source: first.file, line: first.line, column: first.column };
  const error: ErrorInfo = { ...languageError(NS_CODES.Syntax, first?.message ?? '', at, first?.hint), kind: 'syntax' };
  const none = { result: null, eventErrors: [], fuel: 0, peakMemoryBytes: 0, toolCalls: 0, outputBytes: 0 };
  return resultOf({ ok: false, phase: 'parse', error, ...none }, diagnostics, program, host, 0);
}
