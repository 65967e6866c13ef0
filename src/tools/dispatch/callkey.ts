import { hash } from 'node:crypto';
import type { TurnContext } from '../../context/index.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { CallIdentity } from '../define/definition.ts';

/** Characters of the digest in a key. */
const DIGEST_LENGTH = 22;

/**
 * The identity of one call of a turn. The key contains a digest of tool and arguments, because a repeated turn may make a different call
 * at the same place. It is computed on demand, because most tools never read it.
 */
export class TurnCall implements CallIdentity {
  readonly #turn: TurnContext;
  readonly #origin: string | null;
  readonly #id: string;
  readonly #tool: string;
  readonly #args: readonly TaggedJson[];

  /** `id` is the number of the call within its session: turn and place. Without an `origin` the call has no key. */
  constructor(turn: TurnContext, origin: string | null, id: string, tool: string, args: readonly TaggedJson[]) {
    this.#turn = turn;
    this.#origin = origin;
    this.#id = id;
    this.#tool = tool;
    this.#args = args;
  }

  get key(): string | null {
    if (this.#origin === null) return null;
    const digest = hash('sha256', JSON.stringify([this.#tool, this.#args]), 'base64url');
    return `${this.#origin}/${this.#id}/${digest.slice(0, DIGEST_LENGTH)}`;
  }

  get fence(): number | null {
    return this.#turn.fence;
  }
}
