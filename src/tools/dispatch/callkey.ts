import type { TurnContext } from '../../context/index.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { CallIdentity } from '../define/definition.ts';
import { callDigest } from './numbers.ts';

/**
 * The identity of one call of a turn. The key contains a digest of tool and arguments, among whose calls it is numbered. It is computed on demand, because most tools never read it.
 */
export class TurnCall implements CallIdentity {
  readonly #turn: TurnContext;
  readonly #origin: string | null;
  readonly #id: () => string;
  readonly #tool: string;
  readonly #args: readonly TaggedJson[];

  /** `id` is the number of the call within its session: that of the turn, and that among the calls with the same digest. Without an `origin` the call has no key. */
  constructor(turn: TurnContext, origin: string | null, id: () => string, tool: string, args: readonly TaggedJson[]) {
    this.#turn = turn;
    this.#origin = origin;
    this.#id = id;
    this.#tool = tool;
    this.#args = args;
  }

  get key(): string | null {
    if (this.#origin === null) return null;
    return `${this.#origin}/${this.#id()}/${callDigest(this.#tool, this.#args)}`;
  }

  get fence(): number | null {
    return this.#turn.fence;
  }
}
