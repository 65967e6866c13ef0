/**
 * One session with its host, its keys, its clock and its programs. Loop, tokens, keys, tools and interpreter are the real ones; the agent,
 * the clock, the key service and the tools of the programs are the test's.
 */
import { createHmac, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { Keyring } from '../../../src/aeiou/index.ts';
import { type CryptoPort, defaultCrypto } from '../../../src/crypto/index.ts';
import { RealmSandbox } from '../../../src/engine/sandbox.ts';
import {
  LoopController,
  type LoopResult,
  MemoryLog,
  MemoryStore,
  Metrics,
  runtimeExecutor,
  type SessionState,
  SuspendedError,
  seededIds,
  type TurnRecord,
} from '../../../src/loop/index.ts';
import { checkSettings, Runtime } from '../../../src/runtime/index.ts';
import { Halt } from '../../../src/tools/errors.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { timeoutError } from '../../../src/wire/errorinfo.ts';
import { NeuroScriptError } from '../../../src/wire/errors.ts';
import { MAX_TIMER_MS } from '../../../src/wire/options.ts';
import { lineOf, privateKeyOf, reply, TestClock } from '../../aeiou/kit.ts';
import { USERDATA } from '../fake.ts';
import type { Token } from './model.ts';
import { actionOf, FORGERIES, type Forgery, programOf, type Signers, type Step } from './program.ts';

/** Something that happens to the session. */
export type Move =
  /** One turn of a program. */
  | { readonly do: 'turn'; readonly steps: readonly Step[] }
  /** The loop runs to its end, with the same program in each turn. */
  | { readonly do: 'drive'; readonly steps: readonly Step[]; readonly most: 'turns' | 'tokens' }
  | {
      readonly do: 'mute' | 'prose' | 'cancel' | 'restart' | 'later' | 'expire' | 'answer' | 'refuse' | 'resume' | 'rotate';
    };

export const SID = 's';
/** Most turns, or most tokens of a model, that a loop may take. */
export const MOST_TURNS = 4;
export const MOST_TOKENS = 30;
export const REPLY_TOKENS = 10;
const FUEL = 4000;
/** Seconds: one more than a token lives, one more than a replaced key verifies, and more than a call waits. */
export const LATER = 121;
const MUCH_LATER = 361;
const DAYS = 8 * 86_400;

const seedOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const FALLBACK_SEED = seedOf(0xfb);
const THIEF = 0x77;
const FALLBACK = 'fallback';

const currentOf: { world: World | null } = { world: null };

function current(): World {
  if (currentOf.world === null) throw new Error('no world acts');
  return currentOf.world;
}

const TOOLS = [
  defineTool({
    name: 'tool.world.Say',
    args: [
      { name: 'step', type: 'string' },
      { name: 'token', type: 'string' },
    ],
    run: ({ step, token }) => current().say(step as Step, token),
  }),
  defineTool({
    name: 'tool.world.Change',
    args: [{ name: 'step', type: 'string' }],
    run: ({ step }) => current().change(step as Step),
  }),
  defineTool({ name: 'tool.world.Ask', run: (_, runtime) => runtime.pending({ reason: 'go on?' }) }),
  defineTool({ name: 'tool.denied.Tool', run: () => 1 }),
];

const RUNTIME = new Runtime(
  new RealmSandbox(),
  checkSettings({ tools: TOOLS, policy: { allow: ['*'], deny: ['tool.denied.*'] }, now: () => current().clock.now() }),
);
const EXECUTOR = runtimeExecutor(RUNTIME);

const isFallback = (seed: Uint8Array): boolean => seed.every((byte, index) => byte === FALLBACK_SEED[index]);

const CRYPTO: CryptoPort = {
  ...defaultCrypto,
  ed25519Signer: (seed) => {
    const signer = defaultCrypto.ed25519Signer(seed);
    return (message) => {
      const { signers } = current();
      if (signers === 'none' || (signers === 'fallback' && !isFallback(seed))) throw new Error('the key service is down');
      return signer(message);
    };
  },
};

/** A keyring for the world that acts. To check new keys takes longer than a turn, so a world that has not rotated leaves its own to the next. */
const spare: Keyring[] = [];

function newKeyring(): Keyring {
  const keyring = new Keyring({ clock: { now: () => current().clock.now() }, crypto: CRYPTO });
  keyring.add({ kid: FALLBACK, role: 'fallback', alg: 'Ed25519', seed: FALLBACK_SEED });
  keyring.add({ kid: 'primary-1', role: 'primary', alg: 'Ed25519', seed: seedOf(1) });
  return keyring;
}

const imported = new Map<number, KeyObject>();

function privateKey(seed: Uint8Array): KeyObject {
  const [byte = 0] = seed;
  const key = imported.get(byte) ?? privateKeyOf(seed);
  imported.set(byte, key);
  return key;
}

type Json = Record<string, unknown>;

/** RFC 8785 for the payloads of this test, which have no numbers but integers. */
const canonical = (value: unknown): string =>
  value !== null && typeof value === 'object'
    ? `{${Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`)
        .join(',')}}`
    : JSON.stringify(value);

/** The outcome of a move: the record of a turn, the result of a loop, or the code of an error. */
export type Outcome = TurnRecord | LoopResult | string;

export class World {
  readonly clock = new TestClock();
  readonly store = new MemoryStore({ clock: this.clock });
  readonly log = new MemoryLog();
  readonly keyring = spare.pop() ?? newKeyring();
  /** What a reader of the specification expects of each key: its last Unix second; null for one in use. */
  readonly keys = new Map<string, number | null>([
    [FALLBACK, null],
    ['primary-1', null],
  ]);
  signers: Signers = 'both';
  primary = 1;
  /** All tokens that were made, by their text. */
  readonly tokens = new Map<string, Token>();
  /** The texts that were said in this turn, in order. */
  said: string[] = [];
  /** A token of an earlier turn. */
  old: string | null = null;
  /** States of turns, as the loop reports them. */
  states: string[] = [];
  turn = 1;
  /** Which signers worked when the last move began. */
  signersBefore: Signers = 'both';
  readonly metrics = new Metrics();
  /** Replies of the agent so far. */
  consulted = 0;
  /** What was seen and must never be. */
  readonly wrongs: string[] = [];
  #loop: LoopController;
  #cancel = new AbortController();
  /** The call that waits for a person. */
  #call = '';

  constructor() {
    this.#loop = this.#controller();
  }

  get now(): number {
    return Math.floor(this.clock.seconds);
  }

  /** The id of the key that signs now. */
  get kid(): string {
    return `primary-${this.primary}`;
  }

  /** Nothing happens in this world any more. */
  leave(): void {
    if (this.primary === 1) spare.push(this.keyring);
  }

  #controller(): LoopController {
    const { keyring, clock, store, log, metrics } = this;
    const ids = seededIds('states');
    return new LoopController({
      executor: EXECUTOR,
      keyring,
      clock,
      ids,
      store,
      log,
      metrics,
      system: '',
      leaseMs: MAX_TIMER_MS,
    });
  }

  async open(): Promise<void> {
    await this.#loop.open(USERDATA, SID);
  }

  async state(): Promise<SessionState> {
    const state = await this.store.read(SID);
    if (state === null) throw new Error('the session is lost');
    return state;
  }

  /** The text that a program emits for a step, from what the magic tool gave it. */
  say(step: Step, token: string): string {
    const text = this.#textOf(step, token);
    this.said.push(text);
    return text;
  }

  #textOf(step: Step, token: string): string {
    if (step === 'again') return this.said[0] ?? 'nothing yet';
    if (step === 'old') return this.old ?? 'nothing yet';
    const minted = this.#minted(step, token);
    if (!(FORGERIES as readonly string[]).includes(step)) {
      this.tokens.set(token, minted.token);
      return token;
    }
    const { text, ...facts } = this.#forgery(step as Forgery, token, minted.payload);
    this.tokens.set(text, { ...minted.token, ...facts });
    return text;
  }

  /** What the magic tool must have minted, held against what it gave. */
  #minted(step: Step, text: string): { readonly token: Token; readonly payload: Json } {
    const payload: Json = JSON.parse(Buffer.from(text.split(':')[3]?.split('.')[0] ?? '', 'base64url').toString());
    const inNeed = this.signers === 'fallback';
    const action = inNeed ? 'abort' : actionOf(step);
    const { jti, turn_nonce } = payload;
    const wanted = {
      ...{ v: 3, kind: 'LOOP', jti, session_id: SID, turn_index: this.turn, turn_nonce, issued_at: this.now, ttl: 120 },
      kid: inNeed ? FALLBACK : this.kid,
      payload: inNeed ? { action, request: { reason: 'fallback_signer_activated' } } : { action },
    };
    if (canonical(payload) !== canonical(wanted))
      this.wrongs.push(`${inNeed ? 'A3-11.4-2' : 'A3-6.3-13'}: for ${step} the tool gives ${JSON.stringify(payload)}`);
    const known = { readable: true, genuine: true, wellFormed: true, turn: this.turn, issuedAt: this.now, ttl: 120 };
    return { token: { ...known, jti: String(jti), kid: wanted.kid, action }, payload };
  }

  #forgery(how: Forgery, text: string, payload: Json): Partial<Token> & { readonly text: string } {
    const kid = String(payload['kid']);
    const seed = kid === FALLBACK ? FALLBACK_SEED : seedOf(this.primary);
    const signed = (bytes: string, kind = 'LOOP', by = seed): string => {
      const message = Buffer.from(bytes);
      return lineOf(message, sign(null, message, privateKey(by)), kind);
    };
    const changed = (change: Json): string => signed(canonical({ ...payload, ...change }));
    const control = payload['payload'] as Json;
    switch (how) {
      case 'other session':
        return { text: changed({ session_id: 't' }), turn: null };
      case 'other turn':
        return { text: changed({ turn_index: this.turn + 1 }), turn: null };
      case 'other nonce':
        return { text: changed({ turn_nonce: 'AAECAwQFBgcICQoLDA0ODw' }), turn: null };
      case 'forged':
        return { text: signed(canonical(payload), 'LOOP', seedOf(THIEF)), genuine: false };
      case 'nobody':
        return { text: changed({ kid: 'nobody' }), kid: 'nobody' };
      case 'halt':
        return { text: changed({ payload: { action: 'halt' } }), wellFormed: false };
      case 'kind':
        return { text: signed(canonical({ ...payload, kind: 'FOO' }), 'FOO'), wellFormed: false };
      case 'version':
        return { text: changed({ v: 2 }), wellFormed: false };
      case 'no kid': {
        const { kid: _, ...rest } = payload;
        return { text: signed(canonical(rest)), readable: false };
      }
      case 'endless': {
        const { ttl: _, ...rest } = payload;
        return { text: signed(canonical(rest)), ttl: null };
      }
      case 'extra':
        return { text: changed({ x: 'unknown' }) };
      case 'expired':
        return { text: changed({ issued_at: this.now - LATER }), issuedAt: this.now - LATER };
      case 'future':
        return { text: changed({ issued_at: this.now + 61 }), issuedAt: this.now + 61 };
      case 'spaced':
        return { text: signed(canonical(payload).replace(',', ', ')), genuine: false };
      case 'float':
        return { text: signed(canonical(payload).replace('"ttl":120', '"ttl":120.5')), readable: false };
      case 'confused': {
        const spki = createPublicKey(privateKey(seed)).export({ format: 'der', type: 'spki' });
        const message = Buffer.from(canonical(payload));
        return { text: lineOf(message, createHmac('sha256', spki.subarray(-32)).update(message).digest()), genuine: false };
      }
      case 'padded':
        return { text: ` ${text}` };
      case 'quoted':
        return { text: `"${text}"` };
      case 'carriage':
        return { text: `${text}\r` };
      case 'next version':
        return { text: text.replace('V3', 'V4') };
      case 'long':
        return { text: changed({ payload: { ...control, telemetry: { pad: 'p'.repeat(500) } } }) };
    }
  }

  /** What a program, or somebody between two turns, changes in the world. */
  change(step: Step): number {
    if (step === 'later') this.clock.seconds += LATER;
    else if (step === 'much later') this.clock.seconds += MUCH_LATER;
    else if (step === 'rotate') this.#rotate();
    else if (step === 'primary fails') this.signers = 'fallback';
    else if (step === 'signers fail') this.signers = 'none';
    else if (step === 'signers work') this.signers = 'both';
    else if (step === 'cancel') this.#cancel.abort();
    else if (step === 'late') throw new Halt(timeoutError({ limit: 'wallMs', allowed: 1 }, 'too late'));
    return 1;
  }

  /** 002, 11.5: a replaced key verifies for the longest life of a token, 300 s, and a buffer of 60 s. */
  #rotate(): void {
    this.keys.set(this.kid, this.now + 360);
    this.primary += 1;
    this.keys.set(this.kid, null);
    this.keyring.rotate({ kid: this.kid, role: 'primary', alg: 'Ed25519', seed: seedOf(this.primary) });
  }

  async apply(move: Move): Promise<Outcome> {
    currentOf.world = this;
    this.#cancel = new AbortController();
    this.states = [];
    this.signersBefore = this.signers;
    if (move.do === 'turn' || move.do === 'drive') {
      this.said = [];
      this.turn = (await this.state()).nextTurn;
    }
    try {
      return await this.#do(move);
    } catch (error) {
      if (error instanceof SuspendedError) this.#call = error.waiting.call;
      if (!(error instanceof NeuroScriptError)) throw error;
      return error.code;
    }
  }

  async #do(move: Move): Promise<Outcome> {
    switch (move.do) {
      case 'turn':
        return this.#step(programOf(move.steps, this.turn));
      case 'drive':
        return this.#loop.resume(SID, {
          maxReasks: 0,
          agent: this.#agent((turn) => programOf(move.steps, turn)),
          ...(move.most === 'turns' ? { maxTurns: MOST_TURNS } : { maxTokens: MOST_TOKENS }),
          limits: { fuel: FUEL },
        });
      case 'mute':
        return this.#step(null);
      case 'prose':
        return this.#step('prose');
      case 'resume':
        return this.#step(programOf([], this.turn));
      case 'cancel':
        return String(await this.#loop.cancel(SID));
      case 'answer':
      case 'refuse': {
        const answer = move.do === 'answer' ? { result: true } : { error: { message: 'no' } };
        await this.#loop.complete(SID, this.#call, answer);
        return 'answered';
      }
      case 'restart':
        this.#loop = this.#controller();
        return 'restarted';
      case 'expire':
        this.clock.seconds += DAYS;
        return 'expired';
      case 'later':
      case 'rotate':
        this.change(move.do);
        return 'changed';
    }
  }

  #agent(program: (turn: number) => string | null) {
    return {
      reply: async ({ turn }: { readonly turn: number }) => {
        this.consulted += 1;
        this.turn = turn;
        const actions = program(turn);
        if (actions === null) throw new Error('the model is away');
        return { text: actions === 'prose' ? 'I would rather not.' : reply(actions), tokens: REPLY_TOKENS };
      },
    };
  }

  #step(program: string | null): Promise<TurnRecord> {
    return this.#loop.step(SID, {
      agent: this.#agent(() => program),
      signal: this.#cancel.signal,
      limits: { fuel: FUEL },
      maxReasks: 0,
      onEvent: (event) => {
        if (event.type === 'state') this.states.push(event.to);
      },
    });
  }
}
