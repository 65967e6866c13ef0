import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolResult,
  type InputRequiredResult,
  isInputRequiredResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { continued, type Interpreter, type Runtime, runLine } from '../../runtime/index.ts';
import { clipped } from '../../wire/clip.ts';
import { NeuroScriptError } from '../../wire/errors.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { OutFrame, RunInput } from '../../wire/protocol.ts';
import { type RunResult, toPublicResult } from '../../wire/result.ts';
import { askingHost, canAsk, MOST_QUESTIONS, type Questions } from './questions.ts';

/** The parts with which the tool `run` runs programs. `questions` is null if programs cannot ask. */
export interface Runner {
  readonly runtime: Runtime;
  readonly questions: Questions | null;
}

/**
 * Runs a program, or continues the one that the request answers. For a program that waits for its user, returns a question for the
 * client; the answer comes with the next request.
 */
export async function runProgram(
  { runtime, questions }: Runner,
  server: McpServer,
  line: string,
  context: ServerContext,
  { onOut, onCall }: Progress,
): Promise<Answer | InputRequiredResult> {
  const settings = { signal: context.mcpReq.signal, onOut, onCall };
  const state = context.mcpReq.requestState<string>();
  if (questions === null || state === undefined) {
    const asks = questions !== null && canAsk(server, context);
    const interpreter = runtime.interpreter(asks ? { host: askingHost() } : {});
    let run: RunInput | null = null;
    const onInput = (input: RunInput): void => {
      run = input;
    };
    const { result } = await runLine(interpreter.fork(), line, { ...settings, mayWait: asks, onInput });
    return ended(questions, interpreter, run, 0, result);
  }
  const program = await questions.take(state);
  if (program === null) throw new NeuroScriptError('ERR_CALL_UNKNOWN', 'this program waits no longer; run it again');
  const completion = questions.answer(context, program);
  if (completion === null) return questions.ask(program);
  const { run, asked } = program;
  // Without an interpreter, another process began the program.
  const interpreter = program.interpreter ?? runtime.interpreter({ host: askingHost(), callsMade: program.callsMade });
  const recorded = continued(program, [completion], runtime.limits);
  const mayWait = asked < MOST_QUESTIONS;
  const result = await interpreter.fork({ id: run.forkId }).runRequest({ ...settings, recorded, mayWait });
  return ended(questions, interpreter, run, asked, result);
}

/** The answer to a run, or its question. */
async function ended(
  questions: Questions | null,
  interpreter: Interpreter,
  run: RunInput | null,
  asked: number,
  result: RunResult,
): Promise<Answer | InputRequiredResult> {
  const { waiting, alsoWaiting = [], journal } = result;
  if (questions !== null && run !== null && waiting !== undefined)
    return questions.ask({ interpreter, callsMade: interpreter.callsMade, run, journal, waiting, alsoWaiting, asked: asked + 1 });
  return { value: toPublicResult(null, result), isError: !result.ok };
}

/** The answer of a tool: public JSON, and whether it is a failure. */
interface Answer {
  readonly value: object;
  readonly isError: boolean;
}

/** Answers a request, with reports of its progress before. */
export async function answered<Asked extends InputRequiredResult = never>(
  context: ServerContext,
  work: (progress: Progress) => Promise<Answer | Asked>,
): Promise<CallToolResult | Asked> {
  await using progress = new Progress(context);
  try {
    const answer = await work(progress);
    if (isInputRequiredResult(answer)) return answer;
    const { value, isError } = answer;
    return { isError, content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { ...value } };
  } catch (error) {
    // A client can react to wrong use and to a full queue. The library reports every other error.
    if (!(error instanceof NeuroScriptError)) throw error;
    return { isError: true, content: [{ type: 'text', text: `${error.code}: ${error.message}` }] };
  }
}

/** Milliseconds from one report to the next. */
const GAP_MS = 100;

/** Maximum length of a report, in UTF-16 units. */
const MESSAGE_LENGTH = 200;

/**
 * Tells a client that sent a progress token what its program does: every emit and every call of a tool is one step. One report is
 * under way at a time, and those that come too soon are left out, so that a fast program cannot flood a slow client.
 */
class Progress implements AsyncDisposable {
  readonly #request: ServerContext['mcpReq'];
  readonly #over = new AbortController();
  #steps = 0;
  #message: string | null = null;
  #sending: Promise<void> | null = null;

  constructor({ mcpReq }: ServerContext) {
    this.#request = mcpReq;
  }

  /** Takes output of a program. */
  readonly onOut = ({ emits }: OutFrame): void => {
    this.#step(emits.length, emits.at(-1));
  };

  /** Takes an ended call of a program. */
  readonly onCall = (entry: JournalEntry): void => {
    this.#step(1, entry.kind === 'tool' ? entry.name : entry.kind);
  };

  /** Ends the reports, because none may follow the answer to the request. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#sending;
  }

  #step(count: number, message: string | undefined): void {
    if (message === undefined || this.#request._meta?.progressToken === undefined) return;
    this.#steps += count;
    this.#message = clipped(message, MESSAGE_LENGTH).toWellFormed();
    this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    const { signal } = this.#over;
    while (this.#message !== null && !signal.aborted) {
      const params = { progressToken: this.#request._meta?.progressToken, progress: this.#steps, message: this.#message };
      this.#message = null;
      // The failure is ignored: when a client disconnects, its request is cancelled, which ends the program.
      await this.#request.notify({ method: 'notifications/progress', params }).catch(() => {});
      await sleep(GAP_MS, undefined, { signal }).catch(() => {});
    }
    this.#sending = null;
  }
}
