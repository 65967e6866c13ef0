import type { CallIo, FinalReply } from '../../wire/call.ts';
import { NS_CODES } from '../../wire/codes.ts';
import type { AskSpent, GuestCall } from '../../wire/protocol.ts';
import { ToolError } from '../errors.ts';
import type { CallOrigin } from '../policy/origin.ts';
import { unlessOver } from './callscope.ts';
import type { CallQuotas } from './quotas.ts';

/** The `ask` statement of a script, as a call. `id` is its number within its session. */
export type AskCall = GuestCall & { readonly t: 'ask'; readonly id: string };

/** The reply to an `ask`. `spent` is the usage of its nested loop, which the asking run pays even when the reply ends that run. */
export type AskReply = FinalReply & { readonly spent?: AskSpent };

/** A reply, and whether it is a boolean, a number or one of some texts, as it was asked for. */
export type CheckedReply = AskReply & { readonly isChecked?: true };

/** Answers the asks of one run, whose journal can still take `journalLeft` bytes. */
export type AskPort = (call: AskCall, io: CallIo, journalLeft: number) => Promise<CheckedReply>;

/** Used on a host without agents. Fails with code 9, as for any unknown model. */
const noAgents: AskPort = async ({ model }) => {
  throw new ToolError(
    NS_CODES.KeyNotFound,
    `there is no agent model '${model}' here to answer 'ask'`,
    'the host names nobody to ask; on the command line --models FILE does',
  );
};

/** Milliseconds for which a run that has ended waits for its nested loops, which may have to store their end. */
const END_MS = 10_000;

/** The asks of one run, with the usage of each, including those that the run did not wait for. */
export class Asks {
  readonly #port: AskPort;
  readonly #quotas: CallQuotas;
  readonly #spent = new Map<number, AskSpent>();
  readonly #open = new Set<Promise<unknown>>();

  constructor(port: AskPort = noAgents, quotas: CallQuotas) {
    this.#port = port;
    this.#quotas = quotas;
  }

  /** Answers one `ask` by a nested loop, whose tool calls count as calls of this run. */
  async answer(call: AskCall, io: CallIo, origin: CallOrigin | null): Promise<FinalReply> {
    const toolCalls = Math.min(call.left.toolCalls, this.#quotas.callsLeft);
    const bounded = { ...call, left: { ...call.left, toolCalls } };
    const { isChecked, ...reply } = await unlessOver(io, () => this.#follow(bounded, io));
    this.#quotas.countCallsElsewhere(reply.spent?.toolCalls ?? 0);
    origin?.carry(reply.t === 'halt' ? [] : (reply.labels?.adds ?? []));
    if (isChecked === true) origin?.answered();
    // The interpreter has ended by then, so the host charges the run for the ask.
    return reply.t === 'halt' ? { t: 'halt', error: reply.error } : reply;
  }

  /** The usage of the nested loop of a call; undefined for a call that started none. */
  spentBy({ seq }: GuestCall): AskSpent | undefined {
    return this.#spent.get(seq);
  }

  /**
   * Resolves when no nested loop runs any more. The loops of a run that has ended are cancelled, so they end soon. A handler of the
   * application may ignore that, so the run waits {@link END_MS} at most.
   */
  async settled(): Promise<void> {
    if (this.#open.size === 0) return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, END_MS);
    await Promise.race([Promise.allSettled(this.#open), late]);
    clearTimeout(timer);
  }

  /** Records the usage of an answer, even when the run does not wait for it. */
  async #follow(call: AskCall, io: CallIo): Promise<CheckedReply> {
    const reply = this.#port(call, io, this.#quotas.journalLeft);
    this.#open.add(reply);
    try {
      const { spent } = await reply;
      if (spent !== undefined) this.#spent.set(call.seq, spent);
      return await reply;
    } finally {
      this.#open.delete(reply);
    }
  }
}
