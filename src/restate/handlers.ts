import { z } from 'zod';
import { encodeUserdata } from '../aeiou/index.ts';
import { FIRST_ISSUE } from '../files/check.ts';
import {
  CallError,
  type LoopController,
  type OpenOptions,
  type ResumeOptions,
  type SessionCoordinator,
  SessionExistsError,
  type SessionState,
  SessionStateError,
  type SessionStatus,
  type SessionSummary,
  type Waiting,
} from '../loop/index.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import type { Coming, ExclusiveContext, SdkErrors, SharedContext } from './sdk.ts';

/** What drives the sessions of a virtual object. */
export interface SessionDriver {
  /** The name of the virtual object, and the profile of the sessions that it opens. */
  readonly name: string;
  /** The coordinator of `controller`. */
  readonly coordinator: SessionCoordinator;
  /** Takes the turns. */
  readonly controller: LoopController;
  /** Agent, ceilings and limits for a session. */
  readonly options: (sid: string) => Omit<ResumeOptions, 'leave'>;
}

/** What `status` tells about a session: nothing of its content. */
export interface SessionReport {
  /** Whether it is open, and how it ended otherwise. */
  readonly status: SessionStatus;
  /** Why it was halted; null for every other status. */
  readonly reason: string | null;
  /** Decided turns. */
  readonly turns: number;
  /** The calls that it waits for, with Unix milliseconds. */
  readonly waits: readonly { readonly call: string; readonly tool: string; readonly expiresAt: number }[];
}

/** How `turn` left a session. Restate stores the result of each step, so this has no content. */
type Left = { readonly at: 'open' | 'ended' | 'unknown' } | { readonly at: 'waiting'; readonly ms: number };

/** What Restate keeps of a session: the number of the next turn that was sent, and how to wake a turn that waits. */
const [NEXT, AWAKEABLE] = ['next', 'awakeable'];

/** Pauses before a failed step is repeated, in milliseconds. Restate repeats it until it succeeds. */
const RETRIES = { initialRetryInterval: 50, maxRetryInterval: 5000 };

/** The handlers of a virtual object whose key is the id of a session. */
export class SessionHandlers {
  readonly #driver: SessionDriver;
  readonly #errors: SdkErrors;

  constructor(driver: SessionDriver, errors: SdkErrors) {
    this.#driver = driver;
    this.#errors = errors;
  }

  /** Opens the session and sends its first turn. A repetition with the same USERDATA has no effect. */
  async start(context: SharedContext, input: unknown): Promise<{ readonly sid: string }> {
    const { userdata, durable } = readInput(START, input, this.#refused);
    const sid = context.key;
    await step(context, 'open', () => this.#open(sid, userdata, { durable }));
    this.#send(context, 1);
    return { sid };
  }

  /**
   * Takes one turn, and sends the next one if the session goes on; waits for the calls that the turn waits for. Exclusive: Restate calls
   * it for one turn of a session at a time. Without a number it takes the next turn, for a session that nobody drives any more.
   */
  async turn(context: ExclusiveContext, input: unknown): Promise<Left['at']> {
    const given = readInput(TURN, input, this.#refused) ?? null;
    const sent = await context.get(NEXT);
    // The turn was sent twice, and the first delivery has sent the next turn.
    if (given !== null && typeof sent === 'number' && given < sent) return 'open';
    let wake: Coming | null = null;
    for (let isCancelled = false; ; ) {
      try {
        if (isCancelled) await step(context, 'cancel', () => this.#cancel(context.key));
        isCancelled = false;
        const number = await step(context, 'ask', () => this.#ask(context.key, given));
        const left = await step(context, 'run', () => this.#run(context.key, number));
        if (left.at === 'waiting') {
          if (wake === null) {
            // An answer may have come before the awakeable was stored, so the turn checks once more.
            const { id, promise } = context.awakeable();
            context.set(AWAKEABLE, id);
            wake = promise;
          } else {
            await this.#woken(wake, left.ms);
            wake = null;
          }
          continue;
        }
        if (left.at === 'open') {
          context.set(NEXT, number + 1);
          this.#send(context, number + 1);
        } else context.clearAll();
        return left.at;
      } catch (error) {
        if (!(error instanceof this.#errors.CancelledError)) throw error;
        isCancelled = true;
      }
    }
  }

  /** Tells how far the session is. */
  async status({ key }: SharedContext): Promise<SessionReport> {
    const found = await this.#own(key);
    if (found === null) throw new SessionStateError(key, 'unknown');
    const { status, reason, turns, waits } = found;
    const calls = waits === null ? [] : openCalls(waits);
    return { status, reason, turns, waits: calls.map(({ call, tool, expiresAt }) => ({ call, tool, expiresAt })) };
  }

  /** Ends the session: HALT `ERR_CANCELLED`. */
  async cancel(context: SharedContext): Promise<{ readonly cancelled: boolean }> {
    const cancelled = await step(context, 'cancel', () => this.#cancel(context.key));
    await wakeUp(context);
    return { cancelled };
  }

  /** Stores the answer to a call, and wakes the turn that waits for it. `before` says that the call had an answer already. */
  async complete(context: SharedContext, input: unknown): Promise<{ readonly call: string; readonly before: boolean }> {
    const { call, acceptChanged = false, ...answer } = readInput(COMPLETE, input, this.#refused);
    const before = await step(context, 'complete', async () => {
      if ((await this.#own(context.key)) === null) throw new SessionStateError(context.key, 'unknown');
      try {
        await this.#driver.controller.complete(context.key, call, answer, { acceptChanged });
        return false;
      } catch (error) {
        // This may be a repetition, whose first attempt stored the answer and died.
        if (error instanceof CallError && error.code === 'ERR_CALL_COMPLETED') return true;
        throw error;
      }
    });
    await wakeUp(context);
    return { call, before };
  }

  async #open(sid: string, userdata: unknown, options: OpenOptions): Promise<null> {
    const { controller, coordinator, name } = this.#driver;
    try {
      // Hosts that claim sessions do not know the profile, and leave the session to Restate.
      await controller.open(userdata, sid, { ...options, profile: name });
    } catch (error) {
      const state = error instanceof SessionExistsError ? await coordinator.store.read(sid) : null;
      if (state?.userdata !== encodeUserdata(userdata) || (await this.#own(sid)) === null) throw error;
    }
    return null;
  }

  /** The number of the turn to take, with its reply stored if it needs one. */
  async #ask(sid: string, given: number | null): Promise<number> {
    const { controller, options } = this.#driver;
    const state = await this.#read(sid);
    if (state === null) return 0;
    const number = Math.min(given ?? state.nextTurn, state.nextTurn);
    const { keepTurns: _, ...step } = options(sid);
    if (state.status === 'open' && state.nextTurn === number) await controller.consult(sid, { ...step, onUnanswered: 'leave' });
    return number;
  }

  /** Takes a turn unless it has been decided. */
  async #run(sid: string, number: number): Promise<Left> {
    const { coordinator, controller, options } = this.#driver;
    const state = await this.#read(sid);
    if (state === null) return { at: 'unknown' };
    if (state.status !== 'open') {
      // The claim logs what a dead process has decided and not logged.
      await coordinator.leave(sid);
      return { at: 'ended' };
    }
    if (state.nextTurn > number) return { at: 'open' };
    const { decision, waiting, error } = await controller.resume(sid, {
      keepTurns: false,
      ...options(sid),
      onUnanswered: 'leave',
      leave: () => true,
    });
    // The agent gave no reply; Restate repeats the step.
    if (decision === 'CONTINUE' && error !== null) throw new Error(error.message);
    if (waiting !== undefined) return { at: 'waiting', ms: msLeft(waiting) };
    return { at: decision === 'CONTINUE' ? 'open' : 'ended' };
  }

  async #cancel(sid: string): Promise<boolean> {
    return (await this.#own(sid)) !== null && this.#driver.controller.cancel(sid);
  }

  /**
   * The session, if it has the profile of this object. Others have agents, policies and approvals of their own, so here they are as unknown as
   * those that do not exist.
   */
  async #own(sid: string): Promise<SessionSummary | null> {
    const found = await this.#driver.coordinator.store.summary(sid);
    return found?.profile === this.#driver.name ? found : null;
  }

  async #read(sid: string): Promise<SessionState | null> {
    return (await this.#own(sid)) === null ? null : this.#driver.coordinator.store.read(sid);
  }

  /** Waits until an answer has come, or the time for it is over. */
  async #woken(wake: Coming, ms: number): Promise<void> {
    try {
      await wake.orTimeout(ms);
    } catch (error) {
      // The time is over, or a user of Restate has rejected the awakeable. The store decides in both cases.
      if (error instanceof this.#errors.CancelledError || !(error instanceof this.#errors.TerminalError)) throw error;
    }
  }

  #send(context: SharedContext, number: number): void {
    context.objectSendClient({ name: this.#driver.name }, context.key).turn(number);
  }

  readonly #refused = (message: string): Error => new this.#errors.TerminalError(message, { errorCode: 400 });
}

function step<T>(context: SharedContext, name: string, work: () => Promise<T>): PromiseLike<T> {
  return context.run(name, work, RETRIES);
}

async function wakeUp(context: SharedContext): Promise<void> {
  const id = await context.get(AWAKEABLE);
  if (typeof id === 'string') context.resolveAwakeable(id);
}

function openCalls(waiting: Waiting): readonly Waiting[] {
  return [waiting, ...(waiting.also ?? [])].filter(({ completed }) => !completed);
}

/** Milliseconds until the first call expires. */
function msLeft(waiting: Waiting): number {
  return Math.max(1, Math.min(...openCalls(waiting).map(({ expiresAt }) => expiresAt)) - Date.now());
}

/** The input of a handler comes over a network, so its form is checked here. The controller checks the values. */
const JSON_VALUE = z.custom<TaggedJson>((value) => value !== undefined, 'it is missing');

/** How `start` is called. */
export const START = z.strictObject({ userdata: JSON_VALUE, durable: z.enum(['turn', 'call']).optional() });

/** How `complete` is called. */
export const COMPLETE = z.union([
  z.strictObject({ call: z.string(), result: JSON_VALUE, acceptChanged: z.boolean().optional() }),
  z.strictObject({
    call: z.string(),
    error: z.strictObject({ message: z.string(), code: z.exactOptional(z.int()) }),
    acceptChanged: z.boolean().optional(),
  }),
]);

/** How `turn` is called: with the number of the turn, or with nothing, which stands for the next one. */
export const TURN = z.int().min(1).nullish();

/** Reads an input. `refused` makes the error of one that has another form. */
export function readInput<T>(schema: z.ZodType<T>, input: unknown, refused: (message: string) => Error): T {
  const { success, data, error } = schema.safeParse(input, FIRST_ISSUE);
  if (success) return data;
  const [issue] = error.issues;
  throw refused(`the input cannot be read: ${issue?.path.join('.') || 'it'}: ${issue?.message}`);
}
