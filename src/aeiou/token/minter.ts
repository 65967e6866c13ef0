import { ConfigError } from '../../wire/errors.ts';
import { checkMethods, checkObject } from '../arguments.ts';
import { JsonError, MagicError } from '../errors.ts';
import { plainJson } from '../json/canonical.ts';
import { isJsonObject, type JsonObject } from '../json/strict.ts';
import type { Keyring, Signer } from '../keys/keyring.ts';
import { checkWholeNumber, type Lifetimes, resolveLifetimes, secondsOf, type TokenClock } from '../lifetimes.ts';
import { ACTIONS, type Action, type ControlPayload, isAction, TOKEN_KIND } from './format.ts';
import { type MintInput, prepareToken } from './sign.ts';

/** The source of token ids; `mint` counts from 0 within the turn. */
export interface TokenIds {
  /** Returns an id that no other token of this host has. */
  jti(sessionId: string, turnIndex: number, mint: number): string;
}

/** The turn to which a token is bound, taken only from the host's turn context. */
export interface TurnFacts {
  /** The session. */
  readonly sessionId: string;
  /** Number of the turn, from 1. */
  readonly turnIndex: number;
  /** The nonce that the host chose for this attempt at the turn. */
  readonly turnNonce: string;
}

/** The arguments of `tool.aeiou.magic`, unchecked. */
export interface MintRequest {
  /** The first argument: the kind of token. */
  readonly kind: unknown;
  /** The second argument: the payload of the token. */
  readonly payload: unknown;
  /** Null or undefined when the program gave none. */
  readonly opts: unknown;
}

/** A minted token and how it was minted. */
export interface Minted {
  /** The text that a program emits. */
  readonly token: string;
  /** Id of the token. */
  readonly jti: string;
  /** Id of the key that signed. */
  readonly kid: string;
  /** The requested action; always `abort` when the fallback signed. */
  readonly action: Action;
  /** Why the primary signer failed; null unless the fallback signed. */
  readonly fallback: { readonly cause: unknown } | null;
}

/** Counts the minting of one turn. The host makes one ledger per turn and reads it when the turn has ended. */
export class MintLedger {
  #mints: number;
  #fallbacks = 0;
  #failed = false;

  /** `mints` is how many tokens an earlier execution of the turn requested. */
  constructor(mints = 0) {
    this.#mints = mints;
  }

  /** Tokens that were requested with valid arguments. */
  get mints(): number {
    return this.#mints;
  }

  /** Tokens that the fallback signed. */
  get fallbacks(): number {
    return this.#fallbacks;
  }

  /** True once both signers have failed for one token: the turn then ends with HALT(ERR_MAGIC_TOOL_INTERNAL). */
  get failed(): boolean {
    return this.#failed;
  }

  /** Called by the minter for every token that is requested. */
  countMint(): void {
    this.#mints += 1;
  }

  /** Called by the minter when the fallback signed. */
  countFallback(): void {
    this.#fallbacks += 1;
  }

  /** Called by the minter when neither signer could sign. */
  markFailed(): void {
    this.#failed = true;
  }
}

/** Options of a {@link Minter}. */
export interface MinterOptions {
  /** Must hold a fallback key from the start. */
  readonly keyring: Keyring;
  /** Gives the time at which a token is issued. */
  readonly clock: TokenClock;
  /** Gives the id of each token. */
  readonly ids: TokenIds;
  /** How long tokens are valid; `DEFAULT_LIFETIMES` for absent fields. */
  readonly lifetimes?: Partial<Lifetimes> | undefined;
  /** Most tokens of one turn. Default 64. */
  readonly mintCap?: number;
  /** Most milliseconds that a signer may take, at most 2,147,483,647. Default 2000. */
  readonly signMs?: number;
}

/** Longest delay of a timer. A timer that gets a longer one ends at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Mints the tokens that programs request. When the primary signer fails, the fallback signer mints an abort instead. The caller passes
 * the turn; a minter does not depend on programs, tools and contexts.
 */
export class Minter {
  readonly #keyring: Keyring;
  readonly #clock: TokenClock;
  readonly #ids: TokenIds;
  readonly #lifetimes: Lifetimes;
  readonly #mintCap: number;
  readonly #signMs: number;

  /** Throws {@link ConfigError} when the keyring has no fallback signer, or when a bound is not a whole number from 1. */
  constructor(options: MinterOptions) {
    checkObject('the options of a Minter', options);
    checkMethods('the keyring of a Minter', options.keyring, 'signer');
    checkMethods('the clock of a Minter', options.clock, 'now');
    checkMethods('the ids of a Minter', options.ids, 'jti');
    this.#keyring = options.keyring;
    this.#clock = options.clock;
    this.#ids = options.ids;
    this.#lifetimes = resolveLifetimes(options.lifetimes);
    this.#mintCap = checkWholeNumber('mintCap', options.mintCap ?? 64);
    this.#signMs = checkWholeNumber('signMs', options.signMs ?? 2000, 1, '', LONGEST_TIMER_MS);
    this.#fallback();
  }

  /**
   * Mints one token. Throws {@link MagicError}: `ERR_MAGIC_TOOL_ARGS` for invalid arguments, which never lead to a fallback
   * abort; `ERR_MAGIC_TOOL_INTERNAL` when both signers failed, which the ledger records. Throws the reason of `signal` when
   * that is aborted.
   */
  async mint(turn: TurnFacts, ledger: MintLedger, request: MintRequest, signal: AbortSignal): Promise<Minted> {
    const payload = payloadOf(request);
    const ttl = this.#ttlOf(request.opts);
    if (ledger.mints >= this.#mintCap)
      throw new MagicError(
        'ERR_MAGIC_TOOL_ARGS',
        'mint_cap',
        `a turn may request ${this.#mintCap} tokens and has requested that many`,
      );
    const jti = this.#ids.jti(turn.sessionId, turn.turnIndex, ledger.mints);
    const input: MintInput = { ...turn, jti, issuedAt: secondsOf(this.#clock), ttl, payload };
    const primary = this.#keyring.signer('primary');
    const fallback = this.#fallback();
    // Checks the request even without a primary signer, because invalid arguments must never lead to an abort.
    const { kid, alg } = primary ?? fallback;
    prepareToken(input, kid, alg);
    ledger.countMint();
    try {
      if (primary === null) throw new MagicError('ERR_MAGIC_TOOL_INTERNAL', 'signers', 'there is no primary signer');
      const token = await this.#sign(input, primary, signal);
      return { token, jti, kid: primary.kid, action: payload.action, fallback: null };
    } catch (cause) {
      return this.#abort(input, fallback, ledger, signal, cause);
    }
  }

  async #abort(input: MintInput, signer: Signer, ledger: MintLedger, signal: AbortSignal, cause: unknown): Promise<Minted> {
    const payload: ControlPayload = { action: 'abort', request: { reason: 'fallback_signer_activated' } };
    try {
      const token = await this.#sign({ ...input, payload }, signer, signal);
      ledger.countFallback();
      return { token, jti: input.jti, kid: signer.kid, action: 'abort', fallback: { cause } };
    } catch (second) {
      signal.throwIfAborted();
      ledger.markFailed();
      throw new MagicError('ERR_MAGIC_TOOL_INTERNAL', 'signers', 'neither the primary nor the fallback signer could sign', {
        cause: new AggregateError([cause, second]),
      });
    }
  }

  async #sign(input: MintInput, signer: Signer, signal: AbortSignal): Promise<string> {
    const token = prepareToken(input, signer.kid, signer.alg);
    return token.seal(await within(this.#signMs, signal, (stop) => signer.sign(token.message, stop)));
  }

  #fallback(): Signer {
    const signer = this.#keyring.signer('fallback');
    if (signer === null) throw new ConfigError('the keyring needs a fallback key, which aborts when the primary key cannot sign');
    return signer;
  }

  #ttlOf(opts: unknown): number {
    if (opts === null || opts === undefined) return this.#lifetimes.defaultTtl;
    const map = mapOf(opts, 'opts');
    const unknown = Object.keys(map).find((name) => name !== 'ttl');
    if (unknown !== undefined) throw refused('opts', `opts has only 'ttl', not '${unknown.slice(0, 40)}'`);
    const ttl = map['ttl'];
    if (ttl === undefined) return this.#lifetimes.defaultTtl;
    if (typeof ttl !== 'number' || !Number.isSafeInteger(ttl) || ttl < 1 || ttl > this.#lifetimes.maxTtl)
      throw refused('ttl', `opts.ttl must be a whole number of seconds from 1 to ${this.#lifetimes.maxTtl}`);
    return ttl;
  }
}

/** The result of `work`. Throws after `ms` milliseconds and when `signal` is aborted. A result that is no promise needs no timer. */
async function within<T>(ms: number, signal: AbortSignal, work: (stop: AbortSignal) => T | Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const answer = work(controller.signal);
  if (!(answer instanceof Promise)) return answer;
  const stopped = Promise.withResolvers<never>();
  const stop = (reason: unknown): void => {
    controller.abort(reason);
    stopped.reject(reason);
  };
  const timer = setTimeout(() => stop(new Error(`the signer did not answer within ${ms} ms`)), ms);
  const cancel = (): void => stop(signal.reason);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await Promise.race([answer, stopped.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

function payloadOf({ kind, payload }: MintRequest): ControlPayload {
  if (kind !== TOKEN_KIND) throw refused('kind', `the kind must be "${TOKEN_KIND}"`);
  const map = mapOf(payload, 'payload');
  if (!isAction(map['action'])) throw refused('action', `payload.action must be one of ${ACTIONS.join(', ')}`);
  for (const name of ['request', 'telemetry'])
    if (map[name] !== undefined && !isJsonObject(map[name])) throw refused('payload', `payload.${name} must be a map`);
  return { ...map, action: map['action'] };
}

/** A program's map as plain JSON that can be signed. */
function mapOf(value: unknown, name: 'payload' | 'opts'): JsonObject {
  try {
    const map = plainJson(value, 'integers');
    if (isJsonObject(map)) return map;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new MagicError('ERR_MAGIC_TOOL_ARGS', name, `${name} cannot be signed: ${error.message}`, { cause: error });
  }
  throw refused(name, `${name} must be a map`);
}

function refused(detail: 'kind' | 'payload' | 'action' | 'opts' | 'ttl', message: string): MagicError {
  return new MagicError('ERR_MAGIC_TOOL_ARGS', detail, message);
}
