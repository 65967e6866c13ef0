import { randomUUID } from 'node:crypto';
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
import type { Clock } from '../../loop/index.ts';
import type { Interpreter } from '../../runtime/index.ts';
import { type Completion, pending } from '../../tools/index.ts';
import { clipped } from '../../wire/clip.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { PROMPT, type WaitingCall } from '../../wire/journal.ts';
import { ANSWER_SECONDS, type KeptProgram, MOST_WAITING, type ProgramStore, readProgram } from './programs.ts';

/** Maximum number of questions of one program. */
export const MOST_QUESTIONS = 16;

/** Maximum length of a question, in UTF-16 units. */
const QUESTION_LENGTH = 2000;

/** Signs the state that a client returns to the programs of a store. */
export function codecOf({ key }: ProgramStore) {
  return createRequestStateCodec<string>({ key, ttlSeconds: ANSWER_SECONDS });
}

/** The key of the answer among those of a client. */
const ANSWER = 'answer';

/** A program that waits for an answer. */
export interface WaitingProgram extends KeptProgram {
  /** The interpreter with which it continues; null when another process began the program. */
  readonly interpreter: Interpreter | null;
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

/** The programs that wait for answers of users. A waiting program holds no worker, and its time limits do not run. */
export class Questions {
  readonly #store: ProgramStore;
  readonly #clock: Clock;
  /** Signs the state that a client returns with its answers. */
  readonly #codec: ReturnType<typeof codecOf>;
  /** The interpreters of programs that this process began; the one that has waited longest comes first. */
  readonly #interpreters = new Map<string, Interpreter>();

  constructor(store: ProgramStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#codec = codecOf(store);
  }

  /** Verifies the state that a client returns, for the protocol's library. */
  get verify() {
    return this.#codec.verify;
  }

  /** Stores a program until its answer comes, and asks its question. */
  async ask({ interpreter, ...program }: WaitingProgram): Promise<InputRequiredResult> {
    const id = randomUUID();
    await this.#store.put(id, JSON.stringify(program), this.#clock.now());
    if (interpreter !== null) this.#interpreters.set(id, interpreter);
    const [oldest = id] = this.#interpreters.keys();
    if (this.#interpreters.size > MOST_WAITING) this.#interpreters.delete(oldest);
    return inputRequired({
      inputRequests: { [ANSWER]: inputRequired.elicit(formOf(program.waiting)) },
      requestState: await this.#codec.mint(id),
    });
  }

  /** Removes and returns the program that waits under an id; null when there is none. */
  async take(id: string): Promise<WaitingProgram | null> {
    const interpreter = this.#interpreters.get(id) ?? null;
    this.#interpreters.delete(id);
    const text = await this.#store.take(id, this.#clock.now());
    return text === null ? null : { ...readProgram(text), interpreter };
  }

  /** The answer to a question; null when the client sends none, or one of the wrong form. */
  answer({ mcpReq }: ServerContext, { waiting }: WaitingProgram): Completion | null {
    const response = inputResponse(mcpReq.inputResponses, ANSWER);
    if (response.kind !== 'elicit') return null;
    const code = waiting.tool === PROMPT ? NS_CODES.IOFailed : NS_CODES.ToolExecutionFailed;
    if (response.action !== 'accept') return { ok: false, code, message: 'the user gave no answer' };
    const { data } = fieldOf(waiting).read.safeParse(response.content?.[ANSWER]);
    return data === undefined ? null : { ok: true, value: data };
  }
}

function formOf(waiting: WaitingCall): ElicitRequestFormParams {
  const { tool, args, reason } = waiting;
  const question = tool === PROMPT ? String(args[0]) : `${tool}: ${reason}`;
  const requestedSchema = { type: 'object' as const, properties: { [ANSWER]: fieldOf(waiting).shown }, required: [ANSWER] };
  return { mode: 'form', message: clipped(question, QUESTION_LENGTH).toWellFormed() || '?', requestedSchema };
}

/** The field of a form for an answer: one for a text where the form of the answer is not known. */
function fieldOf({ answer = 'text' }: WaitingCall) {
  return typeof answer === 'string'
    ? FIELDS[answer]
    : ({ shown: { type: 'string', enum: [...answer.choices] }, read: z.enum(answer.choices) } as const);
}
