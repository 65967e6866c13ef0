import { printable, quantity } from '../../report/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import { ConfigError, NeuroScriptError } from '../../wire/errors.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { commandOf, runCommand } from './commands.ts';
import type { Lines } from './lines.ts';
import type { Read, Session } from './session.ts';

const PROMPT = 'ns> ';
const MORE = '... ';

/** Inputs of more characters are parsed only after lines that can end them, because each parse reads the whole input. */
const LONG = 16 * 1024;
/** A line that can end an input: one with the end of a block, a bracket or a string. */
const MAY_END = /end|[)\]}`'"]/;
const GOES_ON = /\\[ \t]*$/;

/** An unfinished input and the parser's result for it. An input with an unreadable line never runs. */
interface Pending {
  readonly lines: string[];
  bytes: number;
  read: Read | null;
  trouble: string | null;
}

/** Reads lines to the end: collects an input until the parser finds it complete, then runs it. */
export class Conversation {
  readonly #lines: Lines;
  readonly #session: Session;
  readonly #runtime: Runtime;
  readonly #terminal: Terminal;
  #pending: Pending | null = null;
  /** Whether the last line was Ctrl-C at an empty prompt. */
  #leaving = false;
  #failure: ExitCode = EXIT.ok;

  constructor(lines: Lines, session: Session, runtime: Runtime, terminal: Terminal) {
    this.#lines = lines;
    this.#session = session;
    this.#runtime = runtime;
    this.#terminal = terminal;
  }

  /** Resolves with the exit code: 0 at a terminal, else that of the first input that failed. */
  async run(): Promise<ExitCode> {
    for (;;) {
      const typed = await this.#lines.next(this.#pending === null ? PROMPT : MORE);
      if (this.#terminal.interrupt.aborted) return EXIT.cancelled;
      if (typed === 'interrupted') {
        if (this.#interrupted()) break;
        continue;
      }
      this.#leaving = false;
      if (typed === 'cleared') {
        this.#pending = null;
        continue;
      }
      if (typed === 'end') {
        await this.#step(() => this.#end());
        break;
      }
      if ((await this.#step(() => this.#take(typed))) === 'quit') break;
      if (this.#terminal.interrupt.aborted) return EXIT.cancelled;
    }
    return this.#lines.interactive ? EXIT.ok : this.#failure;
  }

  /** Handles Ctrl-C; true for the second one at an empty prompt. */
  #interrupted(): boolean {
    if (this.#pending === null && this.#leaving) return true;
    if (this.#pending === null) this.#terminal.err.prose('press Ctrl-C again, or Ctrl-D, to leave');
    this.#leaving = this.#pending === null;
    this.#pending = null;
    return false;
  }

  /** Runs one step; prints its error and continues. */
  async #step(work: () => Promise<ExitCode | 'quit'>): Promise<'quit' | null> {
    let code: ExitCode | 'quit';
    this.#session.begin();
    try {
      code = await work();
    } catch (error) {
      if (!(error instanceof NeuroScriptError) || this.#terminal.interrupt.aborted) throw error;
      code = this.#tell(error);
    }
    if (code === 'quit') return code;
    this.#failed(code);
    return null;
  }

  async #take(typed: { readonly text: string } | { readonly trouble: string }): Promise<ExitCode | 'quit'> {
    const text = 'text' in typed ? typed.text : '';
    if (this.#pending === null) {
      if ('trouble' in typed) throw new UsageError(typed.trouble);
      if (text.trim() === '') return EXIT.ok;
      const command = commandOf(text, this.#session);
      if (command !== null)
        return runCommand(command, { session: this.#session, runtime: this.#runtime, terminal: this.#terminal });
    } else if (text.trim() === '' && 'text' in typed && !(await this.#lines.more())) {
      this.#pending = null;
      this.#terminal.err.prose('cancelled');
      return EXIT.ok;
    }
    return this.#add(text, 'trouble' in typed ? typed.trouble : null);
  }

  async #add(text: string, trouble: string | null): Promise<ExitCode | 'quit'> {
    this.#pending ??= { lines: [], bytes: 0, read: null, trouble: null };
    const pending = this.#pending;
    const before = pending.lines.at(-1) ?? '';
    pending.lines.push(text);
    pending.bytes += Buffer.byteLength(text) + 1;
    pending.trouble ??= trouble;
    const { sourceBytes } = this.#runtime.limits;
    if (pending.bytes > sourceBytes + 1)
      return this.#lost(new UsageError(`the input is larger than ${quantity('bytes', sourceBytes)}`));
    if (pending.bytes > LONG && pending.read !== null && !MAY_END.test(text) && !GOES_ON.test(before)) return EXIT.ok;
    try {
      pending.read = await this.#session.read(pending.lines.join('\n'));
    } catch (error) {
      if (!(error instanceof NeuroScriptError)) throw error;
      return this.#lost(error);
    }
    return pending.read.open ? EXIT.ok : this.#enter(pending);
  }

  /**
   * The end of this input is unknown, and its rest must not run as inputs of their own: discards pasted lines, and reads no more
   * from a pipe.
   */
  #lost(error: NeuroScriptError): ExitCode | 'quit' {
    this.#pending = null;
    this.#lines.forget();
    const code = this.#tell(error);
    this.#failed(code);
    return this.#lines.interactive ? code : 'quit';
  }

  #failed(code: ExitCode): void {
    if (this.#failure === EXIT.ok) this.#failure = code;
  }

  #tell(error: NeuroScriptError): ExitCode {
    this.#terminal.err.prose(`neuroscript: ${printable(error.message)} (${error.code})`);
    return error instanceof UsageError || error instanceof ConfigError ? EXIT.usage : EXIT.internal;
  }

  /** Forgets the current input. */
  async #enter({ read, trouble }: Pending): Promise<ExitCode> {
    this.#pending = null;
    if (trouble !== null) throw new UsageError(`${trouble}; that input was not run`);
    return read === null ? EXIT.ok : this.#session.enter(read);
  }

  async #end(): Promise<ExitCode> {
    const pending = this.#pending;
    if (pending === null || this.#lines.interactive) return EXIT.ok;
    pending.read = await this.#session.read(pending.lines.join('\n'));
    return this.#enter(pending);
  }
}
