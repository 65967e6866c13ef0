import type { CallKeeper } from '../../tools/index.ts';
import type { JournalEntry, WaitingCall } from '../../wire/journal.ts';
import type { RunInput } from '../../wire/protocol.ts';
import type { KeptCall } from '../record/kept.ts';
import type { EarlierTurn } from '../record/suspension.ts';

/** Parts of a {@link TurnKeeper}. */
export interface TurnKeeperInit {
  /** Stores a part of the turn; rejects when this process may not act any more. */
  readonly keep: (call: KeptCall) => Promise<void>;
  /** The state from which the turn would continue at this moment. */
  readonly soFar: () => EarlierTurn;
  /** Whether the store has the run of this turn already. */
  readonly continues: boolean;
}

/**
 * Keeps the calls of one turn. The first kept call carries the input of the run; a turn without calls just runs again. Calls that run
 * together with the first are kept after it, because a turn with calls but without its input could not continue.
 */
export class TurnKeeper implements CallKeeper {
  readonly #init: TurnKeeperInit;
  #run: RunInput | null = null;
  #first: { readonly seq: number; readonly kept: Promise<void> } | null = null;

  constructor(init: TurnKeeperInit) {
    this.#init = init;
  }

  /** Receives the run whose calls follow. */
  begins(run: RunInput): void {
    this.#run = run;
  }

  began(call: WaitingCall): Promise<void> {
    return this.#keep(call.seq, { begun: call, entry: null });
  }

  ended(entry: JournalEntry): Promise<void> {
    return this.#keep(entry.seq, { begun: null, entry });
  }

  async #keep(seq: number, part: Pick<KeptCall, 'begun' | 'entry'>): Promise<void> {
    const { keep, soFar, continues } = this.#init;
    const store = (run: RunInput | null): Promise<void> => keep({ seq, ...part, earlier: soFar(), run });
    if (continues) return store(null);
    const first = this.#first;
    if (first === null) {
      const kept = store(this.#run);
      this.#first = { seq, kept };
      return kept;
    }
    await first.kept;
    return store(seq === first.seq ? this.#run : null);
  }
}
