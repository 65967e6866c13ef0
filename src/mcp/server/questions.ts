import { randomBytes, randomUUID } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { createHostContext, type HostContext, SILENT_LOGGER } from '../../context/index.ts';
import type { Interpreter, WaitingRun } from '../../runtime/index.ts';
import { type Completion, pending, type ToolDefinition } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { PROMPT, type WaitingCall } from '../../wire/journal.ts';

/** Maximum number of questions of one program. */
export const MOST_QUESTIONS = 16;

/** Bounds of all programs that wait: the one that has waited longest is given up. */
const MOST_WAITING = 256;
const MOST_BYTES = 64 * 1024 * 1024;

/** Maximum length of a question, in UTF-16 units. */
const QUESTION_LENGTH = 2000;

/** Seconds in which a question can be answered. */
const ANSWER_SECONDS = 3600;

/** Signs what a client brings back with its answers. Its key belongs to this process, which holds the programs that wait. */
export const REQUEST_STATE = createRequestStateCodec<string>({ key: randomBytes(32), ttlSeconds: ANSWER_SECONDS });

/** The key of the answer among those of a client. */
const ANSWER = 'answer';

/** A program that waits for an answer, with the interpreter whose counters it goes on with. */
export interface WaitingProgram extends WaitingRun {
  readonly interpreter: Interpreter;
  /** The questions that it has asked. */
  readonly asked: number;
}

/** A host whose user answers later. */
export function askingHost(): HostContext {
  const next = (): never => {
    throw pending({ reason: 'the user of the client is asked' });
  };
  return createHostContext({ logger: SILENT_LOGGER, stdin: { [Symbol.iterator]: () => ({ next }) } });
}

/** The capabilities of a client that can show a form; one that names no mode can. */
const SHOWS_FORMS = z.object({ elicitation: z.looseObject({}).refine((modes) => 'form' in modes || !('url' in modes)) });

/** Whether a client can ask its user with a form. */
export function canAsk(server: McpServer, { mcpReq }: ServerContext): boolean {
  const declared: unknown = Reflect.get(mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY);
  return SHOWS_FORMS.safeParse(declared ?? server.server.getClientCapabilities()).success;
}

/** The kinds of fields of a form: how a client shows one, and how its value is read. */
const FIELDS = {
  text: { shown: { type: 'string' }, read: z.string().trim() },
  truth: { shown: { type: 'boolean' }, read: z.boolean() },
  number: { shown: { type: 'number' }, read: z.number() },
} as const;

/** The programs that wait for answers of users. A program that waits is data: it holds no worker, and its time limit rests. */
export class Questions {
  readonly #tools: readonly ToolDefinition[];
  /** From the program that has waited longest to the last, each with the length of its data as JSON. */
  readonly #waiting = new Map<string, { readonly program: WaitingProgram; readonly bytes: number }>();
  #bytes = 0;

  constructor(tools: readonly ToolDefinition[]) {
    this.#tools = tools;
  }

  /** Keeps a program until its answer comes, and asks its question. */
  async ask(program: WaitingProgram): Promise<InputRequiredResult> {
    const id = randomUUID();
    const { run, journal, waiting, alsoWaiting } = program;
    const bytes = JSON.stringify([run, journal, waiting, alsoWaiting]).length;
    this.#waiting.set(id, { program, bytes });
    this.#bytes += bytes;
    while (this.#waiting.size > MOST_WAITING || this.#bytes > MOST_BYTES) {
      const [oldest = id] = this.#waiting.keys();
      this.#drop(oldest);
    }
    return inputRequired({
      inputRequests: { [ANSWER]: inputRequired.elicit(this.#form(waiting)) },
      requestState: await REQUEST_STATE.mint(id),
    });
  }

  /** Gives out the program that waits under an id, once; null when there is none. */
  take(id: string): WaitingProgram | null {
    const held = this.#waiting.get(id);
    this.#drop(id);
    return held?.program ?? null;
  }

  /** The answer to a question; null when the client brings none, or one of another form. */
  answer({ mcpReq }: ServerContext, { waiting }: WaitingProgram): Completion | null {
    const response = inputResponse(mcpReq.inputResponses, ANSWER);
    if (response.kind !== 'elicit') return null;
    const code = waiting.tool === PROMPT ? NS_CODES.IOFailed : NS_CODES.ToolExecutionFailed;
    if (response.action !== 'accept') return { ok: false, code, message: 'the user gave no answer' };
    const { data } = this.#field(waiting).read.safeParse(response.content?.[ANSWER]);
    return data === undefined ? null : { ok: true, value: data };
  }

  #drop(id: string): void {
    this.#bytes -= this.#waiting.get(id)?.bytes ?? 0;
    this.#waiting.delete(id);
  }

  #form(waiting: WaitingCall): ElicitRequestFormParams {
    const { tool, args, reason } = waiting;
    const question = tool === PROMPT ? String(args[0]) : `${tool}: ${reason}`;
    const requestedSchema = { type: 'object' as const, properties: { [ANSWER]: this.#field(waiting).shown }, required: [ANSWER] };
    return { mode: 'form', message: question.slice(0, QUESTION_LENGTH).toWellFormed() || '?', requestedSchema };
  }

  /** The field of a form for the result of a tool: a truth value or a number where the tool gives one, else a text. */
  #field({ tool }: WaitingCall): (typeof FIELDS)[keyof typeof FIELDS] {
    const result = this.#tools.find(({ canonicalName }) => canonicalName === tool)?.result ?? null;
    const type = result !== null && 'type' in result ? result.type : result?.json.type;
    if (type === 'bool' || type === 'boolean') return FIELDS.truth;
    return ['int', 'float', 'number', 'integer'].includes(String(type)) ? FIELDS.number : FIELDS.text;
  }
}
