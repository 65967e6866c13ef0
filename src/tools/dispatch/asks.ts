import type { CallIo, FinalReply } from '../../wire/call.ts';
import { NS_CODES } from '../../wire/codes.ts';
import type { AskSpent, GuestCall } from '../../wire/protocol.ts';
import { ToolError } from '../define/define.ts';

/** The call of a script that asks an agent. */
export type AskCall = GuestCall & { readonly t: 'ask' };

/** What an `ask` ends with. `spent` is what its loop used up, which its caller pays also when the reply ends the run. */
export type AskReply = FinalReply & { readonly spent?: AskSpent };

/** Answers the asks of one run. */
export type AskPort = (call: AskCall, io: CallIo) => Promise<AskReply>;

/** On a host without agents: code 9, as for any unknown model (P34). */
export const NO_AGENTS: AskPort = async ({ model }) => {
  throw new ToolError(
    NS_CODES.KeyNotFound,
    `there is no agent model '${model}' here to answer 'ask'`,
    'the host names nobody to ask; on the command line --models FILE does',
  );
};

/** The asks of one run: what each has used up, also those that the run did not wait for. */
export class AskLedger {
  readonly #spent = new Map<number, AskSpent>();
  readonly #open = new Set<Promise<unknown>>();

  /** Answers a call, and keeps what the answer has cost whether anybody waits for it or not. */
  async follow(call: AskCall, work: () => Promise<AskReply>): Promise<AskReply> {
    const reply = work();
    this.#open.add(reply);
    try {
      const { spent } = await reply;
      if (spent !== undefined) this.#spent.set(call.seq, spent);
      return await reply;
    } finally {
      this.#open.delete(reply);
    }
  }

  /** What the call has used up; undefined for one that began no loop. */
  of({ seq }: GuestCall): AskSpent | undefined {
    return this.#spent.get(seq);
  }

  /** Resolves when no loop runs any more; those of a run that has ended are being cancelled. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#open);
  }
}
