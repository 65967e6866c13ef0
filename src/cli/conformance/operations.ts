import { z } from 'zod';
import {
  canonicalize,
  composeEnvelope,
  decodeBase64Url,
  EnvelopeError,
  extractEnvelope,
  JsonError,
  type KeyInit,
  Keyring,
  MagicError,
  mintToken,
  type ParsedEnvelope,
  parseEnvelope,
  parseStrict,
  progressDigest,
  ReplayCache,
  selectDecision,
  type TokenHaltReason,
  UserdataError,
  type VerifyOptions,
  validateUserdata,
  verifyToken,
} from '../../aeiou/index.ts';

/** The result of an operation, without the id of the request. */
export type OperationResult =
  | { readonly ok: Readonly<Record<string, unknown>> }
  | { readonly error: string; readonly message?: string };

const bytes = z.base64().transform((text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
const material = z.string().transform((text, issue) => {
  const decoded = decodeBase64Url(text);
  if (decoded !== null) return decoded;
  issue.addIssue('no base64url');
  return z.NEVER;
});
const key = z.object({
  kid: z.string(),
  alg: z.enum(['Ed25519', 'HS256']),
  public: material.optional(),
  seed: material.optional(),
  secret: material.optional(),
});
const scope = { session: z.string(), turn: z.number(), nonce: z.string() };
const turn = z.object({ ...scope, now: z.number(), clockSkew: z.number().optional(), seen: z.array(z.string()).optional() });
const verifying = { keys: z.array(key), turn };
const action = z.looseObject({ action: z.enum(['continue', 'done', 'abort']) });
const minting = z.object({
  ...scope,
  key,
  jti: z.string(),
  issuedAt: z.number(),
  ttl: z.number().nullable(),
  payload: action,
});

/**
 * Performs one operation of the conformance kit with this implementation; null for an unknown operation. A typed failure of the
 * protocol is a result. Uses nothing of Node, so that the kit also runs in a browser.
 */
export async function perform(op: string, input: unknown): Promise<OperationResult | null> {
  const operation = OPERATIONS.get(op);
  return operation === undefined ? null : refusing(() => operation(input));
}

type Operation = (input: unknown) => OperationResult | Promise<OperationResult>;

const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['envelope.parse', (input) => shown(parseEnvelope(z.object({ bytes }).parse(input).bytes))],
  ['envelope.extract', (input) => shown(extractEnvelope(z.object({ bytes }).parse(input).bytes))],
  ['envelope.compose', compose],
  ['userdata.validate', userdata],
  ['token.verify', verify],
  ['token.mint', mint],
  ['output.select', select],
  ['progress.digest', digest],
  ['json.canonicalize', canonical],
]);

/** Turns a typed failure of the protocol into an answer; other errors pass. */
async function refusing(work: () => OperationResult | Promise<OperationResult>): Promise<OperationResult> {
  try {
    return await work();
  } catch (error) {
    const typed = [EnvelopeError, UserdataError, MagicError, JsonError].find((type) => error instanceof type);
    if (typed !== undefined && error instanceof typed) return { error: error.code, message: error.message };
    throw error;
  }
}

function compose(input: unknown): OperationResult {
  const parts = z
    .object({ userdata: bytes, scratchpad: bytes.optional(), output: bytes.optional(), actions: bytes })
    .parse(input);
  const { userdata, actions, scratchpad = null, output = null } = parts;
  return { ok: { bytes: base64(composeEnvelope({ userdata, actions, scratchpad, output })) } };
}

function userdata(input: unknown): OperationResult {
  validateUserdata(z.object({ bytes }).parse(input).bytes);
  return { ok: {} };
}

function verify(input: unknown): OperationResult {
  const { line, ...rest } = z.object({ line: z.string(), ...verifying }).parse(input);
  const result = verifyToken(line, optionsOf(rest));
  if (!result.ok) return { error: result.code, message: result.message };
  return { ok: { action: result.payload.payload.action, kid: result.payload.kid, jti: result.payload.jti } };
}

async function mint(input: unknown): Promise<OperationResult> {
  const { key: record, session, turn: index, nonce, jti, issuedAt, ttl, payload } = minting.parse(input);
  const keys = new Keyring({ clock: { now: () => issuedAt * 1000 }, allowHs256: true });
  keys.add(initOf(record, 'primary'));
  const signer = keys.signer('primary');
  if (signer === null) throw new TypeError('the key to mint with has no private half');
  // The minter itself checks the payload against the profile.
  const control = payload as Parameters<typeof mintToken>[0]['payload'];
  const facts = { sessionId: session, turnIndex: index, turnNonce: nonce, jti, issuedAt, ttl };
  return { ok: { line: await mintToken({ ...facts, payload: control }, signer) } };
}

function select(input: unknown): OperationResult {
  const { output, ...rest } = z.object({ output: bytes, ...verifying }).parse(input);
  const { decision, reason, chosen, candidates, lints } = selectDecision(text(output), optionsOf(rest));
  const halt: TokenHaltReason | null = reason;
  return {
    ok: {
      decision,
      reason: halt,
      line: chosen?.line ?? null,
      candidates: candidates.map(({ code }) => code),
      lints: lints.map(({ code }) => code).sort(),
    },
  };
}

function digest(input: unknown): OperationResult {
  const { output, scratchpad } = z.object({ output: bytes, scratchpad: bytes }).parse(input);
  return { ok: { digest: progressDigest(text(output), text(scratchpad)) } };
}

function canonical(input: unknown): OperationResult {
  const value = parseStrict(z.object({ bytes }).parse(input).bytes, { numbers: 'integers', padding: true });
  return { ok: { text: base64(new TextEncoder().encode(canonicalize(value))) } };
}

function optionsOf({ keys, turn: of }: { readonly keys: readonly z.infer<typeof key>[]; readonly turn: z.infer<typeof turn> }) {
  const clock = { now: () => of.now * 1000 };
  const ring = new Keyring({ clock, allowHs256: true });
  for (const record of keys) ring.add(initOf(record, 'retired'));
  const replay = new ReplayCache({ clock });
  for (const jti of of.seen ?? []) replay.add(of.session, jti);
  const options: VerifyOptions = {
    keys: ring,
    sessionId: of.session,
    turnIndex: of.turn,
    turnNonce: of.nonce,
    now: of.now,
    replay,
    clockSkew: of.clockSkew,
  };
  return options;
}

function initOf({ kid, alg, public: half, seed, secret }: z.infer<typeof key>, role: 'primary' | 'retired'): KeyInit {
  if (alg === 'HS256' && secret !== undefined) return { kid, role, alg, secret };
  if (alg === 'Ed25519' && seed !== undefined) return { kid, role, alg, seed };
  if (alg === 'Ed25519' && half !== undefined) return { kid, role, alg, publicKey: half };
  throw new TypeError(`the key '${kid}' has no material of its algorithm`);
}

function shown({ userdata: first, scratchpad, output, actions, lints }: ParsedEnvelope): OperationResult {
  const encode = (body: string | null) => (body === null ? null : base64(new TextEncoder().encode(body)));
  return {
    ok: {
      userdata: encode(first),
      scratchpad: encode(scratchpad),
      output: encode(output),
      actions: encode(actions),
      lints: lints.map(({ code }) => code).sort(),
    },
  };
}

function base64(value: Uint8Array): string {
  // In pieces, because a call has a limited number of arguments.
  let letters = '';
  for (let from = 0; from < value.length; from += 8192) letters += String.fromCharCode(...value.subarray(from, from + 8192));
  return btoa(letters);
}

function text(value: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(value);
}
