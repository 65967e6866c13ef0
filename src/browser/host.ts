import { canonicalName } from '../../grammar/vocabulary/names.ts';
import { decode, encode } from '../wire/codec.ts';
import { NS_CODES } from '../wire/codes.ts';
import { NeuroScriptError } from '../wire/errors.ts';
import type { BranchEnd, GuestCall, GuestFrame, GuestReply, TaggedJson, Whisper } from '../wire/protocol.ts';
import { plainMaps } from '../wire/tagged.ts';
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

type PageReply = Extract<GuestReply, { readonly t: 'ok' | 'error' }>;

/** Gathers the output of one run and answers its calls. */
export class PageHost {
  readonly emits: string[] = [];
  readonly values: TaggedJson[] = [];
  readonly whispers: Whisper[] = [];
  readonly calls: PageCall[] = [];
  readonly #tools: ReadonlyMap<string, PageTool>;
  readonly #lines: string[] | null;

  constructor(tools: Readonly<Record<string, PageTool>>, lines: readonly string[] | null) {
    this.#tools = new Map(Object.entries(tools).map(([name, tool]) => [canonicalName(name), tool]));
    this.#lines = lines === null ? null : [...lines];
  }

  /** Whether the page has a tool of this canonical name. */
  has(canonical: string): boolean {
    return this.#tools.has(canonical);
  }

  /** Answers a frame of the interpreter. */
  receive(text: string): string {
    const frame: GuestFrame = JSON.parse(text);
    if (frame.t === 'out') {
      this.emits.push(...frame.emits);
      this.values.push(...frame.values.map(plainMaps));
      this.whispers.push(...frame.whispers);
      return '';
    }
    // This host asks no questions about variables and measures no run.
    if (frame.t === 'var' || frame.t === 'probe') throw new Error('a frame that was not asked for');
    if (frame.t !== 'together') return JSON.stringify(this.#record(frame));
    // The tools of a page answer at once, so calls that run together run in their order. They have no type of their own in the frame.
    const ends = frame.calls.map((call): BranchEnd => {
      const reply = this.#record({ ...call, t: 'tool' });
      return reply.t === 'ok' ? { value: reply.value } : { code: reply.code, message: reply.message };
    });
    return JSON.stringify({ t: 'all', ends } satisfies GuestReply);
  }

  /** Answers a call and keeps it. */
  #record(call: GuestCall): PageReply {
    const reply = this.#answer(call);
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

  #answer(call: GuestCall): PageReply {
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
