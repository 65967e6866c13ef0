import { canonicalName } from '../../grammar/vocabulary/names.ts';
import { type CallEnd, endsOf, Gathered, type Question } from '../engine/realm.ts';
import { decode, encode } from '../wire/codec.ts';
import { NS_CODES } from '../wire/codes.ts';
import { NeuroScriptError } from '../wire/errors.ts';
import type { GuestCall, GuestReply, TaggedJson } from '../wire/protocol.ts';
import { messageOf } from '../wire/unknown.ts';
import type { Value } from '../wire/values.ts';

/** A tool in the page: takes the arguments of the call and returns its result, at once. What it throws becomes an error of the language. */
export type PageTool = (...args: readonly Value[]) => Value;

/** One call that a program made. */
export interface PageCall {
  /** Canonical name of the tool; `promptuser` for a question to the user. */
  readonly tool: string;
  /** Tagged JSON. */
  readonly args: readonly TaggedJson[];
  /** Tagged JSON; null when the call failed. */
  readonly result: TaggedJson;
  /** Null when the call succeeded. */
  readonly error: { readonly code: number; readonly message: string } | null;
}

/** What a tool of a page throws to choose the code that `on error` sees; anything else becomes code 21. */
export class PageToolError extends NeuroScriptError {
  /** The number of the error in the language. */
  readonly nsCode: number;
  constructor(nsCode: number, message: string) {
    super(`NS${nsCode}`, message);
    this.nsCode = nsCode;
  }
}

/** Gathers the output of one run and answers its calls. */
export class PageHost {
  readonly out = new Gathered();
  readonly calls: PageCall[] = [];
  readonly #tools: ReadonlyMap<string, PageTool>;
  readonly #lines: string[] | null;

  constructor(tools: Readonly<Record<string, PageTool>>, lines: readonly string[] | null) {
    this.#tools = new Map(Object.entries(tools).map(([name, tool]) => [canonicalName(name), tool]));
    this.#lines = lines === null ? null : [...lines];
  }

  has(canonical: string): boolean {
    return this.#tools.has(canonical);
  }

  /** Answers a call, or calls that run together: in their order, because the tools of a page answer at once. */
  answer(question: Question): GuestReply {
    if (question.t === 'var') throw new Error('a frame that was not asked for');
    return question.t === 'together' ? endsOf(question, (call) => this.#record(call)) : this.#record(question);
  }

  /** Answers a call and keeps it. */
  #record(call: GuestCall): CallEnd {
    const reply = this.#endOf(call);
    const [tool, args] =
      call.t === 'tool' ? [call.name, call.args] : call.t === 'prompt' ? ['promptuser', [call.text]] : ['ask', []];
    const failed = reply.t === 'error';
    this.calls.push({
      tool,
      args,
      result: reply.t === 'ok' ? reply.value : null,
      error: failed ? { code: reply.code, message: reply.message } : null,
    });
    return reply;
  }

  #endOf(call: GuestCall): CallEnd {
    try {
      return { t: 'ok', value: this.#perform(call) };
    } catch (error) {
      const code = error instanceof PageToolError ? error.nsCode : NS_CODES.ToolExecutionFailed;
      return { t: 'error', code, message: messageOf(error) };
    }
  }

  #perform(call: GuestCall): TaggedJson {
    if (call.t === 'ask')
      throw new PageToolError(NS_CODES.KeyNotFound, `there is no agent model '${call.model}' here to answer 'ask'`);
    if (call.t === 'prompt') return this.#line();
    const tool = this.#tools.get(call.name);
    if (tool === undefined) throw new PageToolError(NS_CODES.ToolNotFound, `tool '${call.name}' not found`);
    return encode(tool(...call.args.map(decode)));
  }

  #line(): string {
    if (this.#lines === null) throw new PageToolError(NS_CODES.IOFailed, 'promptuser has no input to read from here');
    const line = this.#lines.shift();
    if (line === undefined) throw new PageToolError(NS_CODES.IOFailed, 'promptuser found the end of the input');
    return line.trim();
  }
}
