import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import {
  decodeToken,
  generateKeys,
  type Keyring,
  keyringFrom,
  Minter,
  MintLedger,
  ReplayCache,
  type TurnFacts,
  verifyToken,
} from '../src/aeiou/index.ts';
import { type Summary, summarize } from './stats.ts';
import { short, spread, table } from './table.ts';

/** One of the four measured operations. */
export interface TokenRow {
  readonly work: string;
  /** Microseconds of one operation, by batch. */
  readonly us: Summary | null;
  /** Median of the rounds' ratios: ours divided by the bare one right after it, at the same speed of the machine. Null for the bare ones. */
  readonly ratio: number | null;
  /** The most that the ratio may be. */
  readonly target: number | null;
}

/** The promises, as multiples of a bare signature and a bare verification. */
const TARGETS = { mint: 2.5, verify: 1.8 } as const;
/** How much more `--quick` allows: it has few samples, of code that V8 has hardly compiled. */
const QUICK_ROOM = 1.5;
/** Operations in one batch: enough for the clock, and few enough that all lanes meet the same load. */
const BATCH = 10;
const NOW = 1_725_012_345;
const TURN: TurnFacts = { sessionId: 'bench', turnIndex: 1, turnNonce: 'AAECAwQFBgcICQoLDA0ODw' };

/**
 * Measures minting beside a bare signature of the same bytes, and verifying beside a bare verification, interleaved by batch. Every token
 * is new and fully verified: form, key, canonical bytes, signature, fields, scope, time and replay. Throws when one is not genuine.
 */
export async function benchTokens(quick: boolean): Promise<TokenRow[]> {
  const clock = { now: () => NOW * 1000 };
  const keys = generateKeys('bench');
  const keyring = keyringFrom(keys, { clock });
  const pair = bareKeys(keys[0]);
  const lanes = { mint: [] as number[], sign: [] as number[], verify: [] as number[], bare: [] as number[] };
  const room = quick ? QUICK_ROOM : 1;
  const [rounds, warmup] = quick ? [100, 100] : [400, 300];
  const minter = new Minter({ keyring, clock, ids: { jti: () => crypto.randomUUID() }, mintCap: (rounds + warmup) * BATCH });
  const ledger = new MintLedger();
  const replay = new ReplayCache({ clock });
  for (let round = 0; round < rounds + warmup; round++) {
    const tokens: string[] = [];
    const mintUs = await perPiece(async () => {
      const request = { kind: 'LOOP', payload: { action: 'continue' }, opts: null };
      tokens.push((await minter.mint(TURN, ledger, request, NEVER)).token);
    });
    const signed = tokens.map(partsOf);
    let next = 0;
    const signUs = await perPiece(() => sign(null, at(signed, next++).message, pair.privateKey));
    next = 0;
    const verifyUs = await perPiece(() => mustVerify(at(tokens, next++), keyring, replay));
    next = 0;
    const bareUs = await perPiece(() => {
      const { message, tag } = at(signed, next++);
      if (!verify(null, message, pair.publicKey, tag)) throw new Error('a signature does not verify');
    });
    if (round < warmup) continue;
    lanes.mint.push(mintUs);
    lanes.sign.push(signUs);
    lanes.verify.push(verifyUs);
    lanes.bare.push(bareUs);
  }
  return [
    rowOf('mint a token', lanes.mint, lanes.sign, room * TARGETS.mint),
    rowOf('bare signature', lanes.sign),
    rowOf('verify a token', lanes.verify, lanes.bare, room * TARGETS.verify),
    rowOf('bare verification', lanes.bare),
  ];
}

export function renderTokens(rows: readonly TokenRow[]): string {
  const cells = rows.map(({ work, us, ratio, target }) => [
    work,
    short(us?.median ?? null),
    spread(us),
    us === null ? '-' : String(us.samples),
    ratio === null ? '-' : `${short(ratio)}x`,
    target === null ? '-' : `${target}x`,
  ]);
  const head = ['work', 'median us', 'q1–q3 us', 'batches', 'vs bare', 'at most'];
  return `${table(head, cells)}\n\nEd25519 by node:crypto on both sides; one batch is ${BATCH} pieces, lanes interleaved.\n`;
}

export function tokenFailures(rows: readonly TokenRow[]): string[] {
  return rows.flatMap(({ work, ratio, target }) =>
    ratio !== null && target !== null && ratio > target
      ? [`${work}: ${short(ratio)} times the bare one, at most ${target} are promised`]
      : [],
  );
}

const NEVER = new AbortController().signal;

/** Microseconds of one operation of a batch. */
async function perPiece(piece: () => unknown): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < BATCH; i++) {
    const done = piece();
    if (done instanceof Promise) await done;
  }
  return ((performance.now() - start) * 1000) / BATCH;
}

function rowOf(work: string, us: readonly number[], bare: readonly number[] = [], target: number | null = null): TokenRow {
  const ratios = us.slice(0, bare.length).map((mine, round) => mine / at(bare, round));
  return { work, us: summarize(us), ratio: summarize(ratios)?.median ?? null, target };
}

function mustVerify(token: string, keys: Keyring, replay: ReplayCache): void {
  const result = verifyToken(token, { keys, ...TURN, now: NOW, clockSkew: 60, replay });
  if (!result.ok) throw new Error(`a token does not verify: ${result.message}`);
}

function partsOf(token: string): { readonly message: Uint8Array; readonly tag: Uint8Array } {
  const decoded = decodeToken(token);
  if (!decoded.ok) throw new Error(`a token cannot be read: ${decoded.message}`);
  return decoded.token;
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new RangeError(`there is no piece ${index}`);
  return item;
}

function bareKeys(key: ReturnType<typeof generateKeys>[number] | undefined): {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
} {
  if (key === undefined || !('seed' in key)) throw new TypeError('a new key has no seed');
  // PKCS#8 up to the raw seed (RFC 8410).
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), key.seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}
