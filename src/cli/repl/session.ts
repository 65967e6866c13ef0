import { createHostContext, type LineSource, SILENT_LOGGER, type Stores } from '../../context/index.ts';
import type { Clock, Ids } from '../../loop/index.ts';
import { printable, renderCall, renderDiagnostic, SYNTAX } from '../../report/index.ts';
import type { Interpreter, RunRequest, Runtime } from '../../runtime/index.ts';
import type { Source, TaggedJson, Usage, Variable } from '../../wire/protocol.ts';
import type { RunResult } from '../../wire/result.ts';
import type { ParsedFile } from '../../wire/sourcereports.ts';
import { EXIT, type ExitCode, exitOf } from '../terminal/exit.ts';
import { showEnd, showSaid } from '../terminal/result.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface SessionInit {
  readonly runtime: Runtime;
  readonly terminal: Terminal;
  readonly globals: Readonly<Record<string, TaggedJson>>;
  readonly stores?: Partial<Stores> | undefined;
  readonly trace: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The input of `promptuser` and the output of its questions. */
  readonly stdin: LineSource;
  readonly ask: (question: string) => void;
}

export interface Definition {
  readonly source: Source;
  readonly file: ParsedFile;
}

/** An input whose command blocks succeeded. */
export interface Entry {
  readonly text: string;
  readonly typed: ParsedFile['typed'];
}

export interface Read {
  readonly source: Source;
  /** Runs it; null for an input with syntax errors, which `show` prints. */
  readonly file: ParsedFile | null;
  /** Whether it may be incomplete. */
  readonly open: boolean;
  readonly show: () => void;
}

/**
 * The shared state of a prompt's inputs: variables, definitions, and the handles and directories of tools, which see one session.
 * Every input is a run in a fresh isolate, which gets the variables and returns them at its end. An input that fails changes
 * nothing.
 */
export class Session {
  readonly #init: SessionInit;
  readonly #root: Interpreter;
  #sid: string;
  #variables: readonly Variable[] = [];
  #definitions: readonly Definition[] = [];
  #entries: Entry[] = [];
  #inputs = 0;
  #usage: Usage | null = null;
  #cancel = new AbortController();

  constructor(init: SessionInit) {
    const { runtime, terminal, stores, stdin, ask, ids } = init;
    this.#init = init;
    this.#sid = ids.session();
    const host = createHostContext({ logger: SILENT_LOGGER, stdin, stdout: { write: ask } });
    this.#root = runtime.interpreter({ host, stores });
    terminal.interrupt.addEventListener('abort', () => this.cancel(), { once: true });
  }

  get variables(): readonly Variable[] {
    return this.#variables;
  }

  get definitions(): readonly Definition[] {
    return this.#definitions;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** The usage of the last input; null before the first. */
  get usage(): Usage | null {
    return this.#usage;
  }

  /** Parses the input so far. Rejects as `Runtime.parse`. */
  read(text: string): Promise<Read> {
    return this.#read({ name: `input-${this.#inputs + 1}`, text, interactive: true });
  }

  /** Parses and runs a file. Rejects as `Runtime.parse`. */
  async load(name: string, text: string): Promise<ExitCode> {
    return this.enter(await this.#read({ name, text }));
  }

  /** Runs a parsed input and keeps its variables and definitions. Rejects as `Fork.perform`. */
  async enter({ source, file, show }: Read): Promise<ExitCode> {
    if (file?.kind === 'empty') return EXIT.ok;
    this.#inputs++;
    if (file === null) {
      show();
      return EXIT.syntax;
    }
    const result = await this.#perform(source, { variables: this.#variables });
    if (result.error !== null) return exitOf(result.error);
    if (file.kind === 'library') this.#define({ source: Object.freeze(source), file });
    else this.#entries.push({ text: source.text, typed: file.typed });
    if (result.variables !== undefined) {
      this.#variables = result.variables.kept;
      for (const name of result.variables.lost)
        this.#say(`${name} was not kept: its value is too large, or nests too deeply, to be carried over (--tool-bytes)`);
    }
    return EXIT.ok;
  }

  /** Delivers an event to the handlers. Rejects as `Fork.perform`. */
  async deliver(name: string, payload: TaggedJson): Promise<ExitCode> {
    const { clock, ids } = this.#init;
    const event = { name, source: 'cli', payload, id: ids.session(), ts: clock.now() * 1e6 };
    const result = await this.#perform(null, { events: [event] });
    return exitOf(result.error);
  }

  /** Starts a new input: an earlier {@link cancel} no longer applies. */
  begin(): void {
    this.#cancel = new AbortController();
    if (this.#init.terminal.interrupt.aborted) this.cancel();
  }

  /** Cancels the current run, or the run of the input that is being parsed. */
  cancel(): void {
    this.#cancel.abort();
  }

  /** Removes variables and definitions, and closes what tools keep for the session. */
  async reset(): Promise<void> {
    const { runtime, ids } = this.#init;
    await runtime.endSession(this.#sid);
    this.#sid = ids.session();
    this.#variables = [];
    this.#definitions = [];
    this.#entries = [];
  }

  async #read(source: Source): Promise<Read> {
    const { terminal, runtime } = this.#init;
    const { diagnostics, files, open = [] } = await runtime.parse([source]);
    const show = (): void => {
      const texts = new Map([[source.name, source.text]]);
      for (const found of diagnostics)
        for (const line of renderDiagnostic(found, SYNTAX, texts, terminal.paintErr)) terminal.err.prose(line);
    };
    return { source, file: files[0] ?? null, open: open.length > 0, show };
  }

  async #perform(source: Source | null, request: Partial<RunRequest>): Promise<RunResult> {
    const { runtime, terminal, globals, trace } = this.#init;
    const sources = [...this.#definitions.map((one) => one.source), ...(source === null ? [] : [source])];
    using turn = runtime.turn({ sessionId: this.#sid, turnIndex: Math.max(1, this.#inputs) });
    const result = await this.#root.fork({ turn }).runRequest({
      ...request,
      sources,
      globals,
      redefine: true,
      signal: this.#cancel.signal,
      onOut: (said) => showSaid(said, terminal),
      ...(trace ? { onCall: (entry) => terminal.err.prose(renderCall(entry, terminal.paintErr)) } : {}),
    });
    this.#usage = result.usage;
    if (!terminal.out.closed.aborted) showEnd(result, new Map(sources.map(({ name, text }) => [name, text])), terminal);
    return result;
  }

  /** Adds a library and drops earlier ones whose definitions are all replaced, so that a procedure can be redefined without limit. */
  #define(added: Definition): void {
    const before = new Set(this.#definitions.flatMap(({ file }) => file.procedures));
    const all = [...this.#definitions, added];
    const last = new Map(all.flatMap((one) => one.file.procedures.map((name) => [name, one] as const)));
    this.#definitions = all.filter((one) => one.file.events > 0 || one.file.procedures.some((name) => last.get(name) === one));
    for (const [index, name] of added.file.procedures.entries())
      this.#say(`${before.has(name) ? 'redefined' : 'defined'} ${added.file.signatures[index] ?? name}`);
    if (added.file.events > 0)
      this.#say(`added ${added.file.events === 1 ? 'an event handler' : `${added.file.events} event handlers`}`);
  }

  #say(note: string): void {
    const { err, paintErr } = this.#init.terminal;
    err.prose(paintErr.dim(printable(note)));
  }
}
