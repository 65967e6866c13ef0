import { z } from 'zod';
import { parsedJson } from '../files/json.ts';
import {
  chainFaults,
  joinRecord,
  type RecordPart,
  readRecord,
  replayTurn,
  sealRecord,
  type TurnRecord,
  type TurnReplay,
} from '../loop/index.ts';
import type { Runtime } from '../runtime/index.ts';
import { StoreError } from '../sqlite/error.ts';
import { checkKey, isSignedFor, type ReceiptKey } from './key.ts';
import { checkForm, digestOf, type ManifestTurn, type Part, type Receipt, SESSION_PARTS } from './receipt.ts';

/** The faults of a receipt that show without executing it, and its withheld parts. */
export interface ReceiptCheck {
  /** A sentence for each fault; none for a receipt that is as it was signed. */
  readonly faults: readonly string[];
  /** Names of the parts that the manifest has and the receipt lacks. */
  readonly withheld: readonly string[];
}

/** The result of {@link verifyReceipt}. */
export interface ReceiptReport extends ReceiptCheck {
  /** Id of the session. */
  readonly sid: string;
  /** Name of the key that signed. */
  readonly kid: string;
  /** Unix milliseconds. */
  readonly issuedAt: number;
  /** What executing the turns again has shown. */
  readonly turns: readonly ReceiptTurn[];
  /** Whether the receipt is as it was signed and no turn differs. Withheld parts are not a fault. */
  readonly ok: boolean;
}

/** A turn of a receipt that was executed again, or could not be. */
export interface ReceiptTurn extends ManifestTurn {
  /** As of a replay; `withheld`: parts without which the turn cannot be judged are withheld. */
  readonly verdict: TurnReplay['verdict'] | 'withheld';
  /** Why the turn was not executed, or where it differs; null for a turn that is the same. */
  readonly why: string | null;
}

/** Checks signature, digests and names of a receipt, and executes nothing. */
export function checkReceipt(receipt: Receipt, key: ReceiptKey): ReceiptCheck {
  checkForm(receipt);
  checkKey(key);
  const { manifest, signature, parts } = receipt;
  const faults: string[] = [];
  if (manifest.kid !== key.kid) faults.push(`it was signed by key ${manifest.kid}, not by ${key.kid}`);
  if (!isSignedFor('neuroscript-receipt', manifest, signature, key))
    faults.push('its signature does not fit: the manifest was changed, or another key signed it');
  for (const [name, part] of Object.entries(parts)) {
    const digest = manifest.parts[name];
    if (digest === undefined) faults.push(`part ${name} was added: the manifest does not name it`);
    else if (digestOf(name, part) !== digest) faults.push(`part ${name} was changed: its digest does not fit`);
  }
  const withheld = Object.keys(manifest.parts).filter((name) => parts[name] === undefined);
  return { faults, withheld };
}

/**
 * Checks a receipt and executes every turn again, in fresh sandboxes of `runtime` and from the receipt alone: it calls no tool and reads no
 * store. Bytes, fuel and decisions must be those of the receipt. Rejects as `replayTurn` does.
 */
export async function verifyReceipt(
  runtime: Runtime,
  receipt: Receipt,
  key: ReceiptKey,
  signal?: AbortSignal,
): Promise<ReceiptReport> {
  const { faults, withheld } = checkReceipt(receipt, key);
  const { manifest } = receipt;
  const turns: ReceiptTurn[] = [];
  const read = recordsOf(receipt);
  const records = read.flatMap(({ record }) => (record === null ? [] : [record]));
  const chain = withheld.length === 0 ? chainFaults(records, records.at(-1)?.seal.hash ?? null, new Map()) : [];
  // A hostile receipt has more faults than a call may have arguments.
  const found = [...faults, ...chain, ...strayParts(receipt), ...wrongClaims(receipt)];
  for (const { decided, record, missing, why: unread } of read) {
    signal?.throwIfAborted();
    if (record === null) {
      turns.push({ ...decided, verdict: missing.length > 0 ? 'withheld' : 'incomplete', why: unread });
      if (missing.length === 0) found.push(unread ?? 'a turn is missing');
      continue;
    }
    const replay = await replayTurn(runtime, record, { redacted: missing, signal });
    const { divergence } = replay;
    // Without its calls, a turn that was halted shows nothing that could be judged.
    const verdict = replay.verdict === 'incomplete' && missing.length > 0 ? 'withheld' : replay.verdict;
    if (verdict === 'malformed' || (verdict === 'incomplete' && record.inputs.scene !== null))
      found.push(`turn ${decided.turn} cannot be executed: ${replay.why}`);
    const why =
      divergence === null ? replay.why : `${divergence.where}: recorded ${divergence.recorded}, now ${divergence.replayed}`;
    turns.push({ ...decided, verdict, why });
  }
  const { sid, kid, issuedAt } = manifest;
  const ok = found.length === 0 && turns.every(({ verdict }) => verdict !== 'differs' && verdict !== 'changed');
  return { sid, kid, issuedAt, faults: found, withheld, turns, ok };
}

interface ReadTurn {
  readonly decided: ManifestTurn;
  /** Null when it cannot be put together; `why` says why. */
  readonly record: TurnRecord | null;
  readonly missing: readonly string[];
  readonly why: string | null;
}

/** Takes the place of a seal until the record is sealed anew. */
const NO_SEAL = { prev: null, hash: '', parts: {} };

/** Puts the records together again. The receipt's signature takes the place of their seals, which would tell what is withheld. */
function recordsOf({ manifest, parts }: Receipt): readonly ReadTurn[] {
  const names = Map.groupBy(Object.keys(manifest.parts), (name) => name.slice(0, name.indexOf('.')));
  const turns: ReadTurn[] = [];
  let prev: string | null = null;
  for (const decided of manifest.turns) {
    const own = names.get(String(decided.turn)) ?? [];
    const missing = own.filter((name) => parts[name] === undefined);
    // Calls can be withheld and the decision still judged; nothing else can.
    if (missing.some((name) => !name.includes('.journal.'))) {
      turns.push({ decided, record: null, missing, why: `withheld: ${missing.join(', ')}` });
      continue;
    }
    try {
      const text = JSON.stringify({ ...assembled(own, parts), seal: NO_SEAL });
      const { seal: _, ...unsealed } = readRecord(text, `turn ${decided.turn} of the receipt`);
      const record: TurnRecord = sealRecord(unsealed, prev);
      prev = record.seal.hash;
      turns.push({ decided, record, missing, why: null });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      turns.push({ decided, record: null, missing: [], why: error.message });
    }
  }
  return turns;
}

function assembled(names: readonly string[], parts: Receipt['parts']): object {
  return joinRecord(
    names.flatMap((name): readonly RecordPart[] => {
      const part = parts[name];
      return part === undefined ? [] : [[name.slice(name.indexOf('.') + 1), readPart(part)]];
    }),
  );
}

/** Parts that belong to no turn of the manifest. */
function strayParts({ manifest }: Receipt): readonly string[] {
  const turns = new Set(manifest.turns.map(({ turn }) => String(turn)));
  const session: ReadonlySet<string> = new Set(SESSION_PARTS);
  return Object.keys(manifest.parts)
    .filter((name) => !session.has(name) && !turns.has(name.slice(0, name.indexOf('.'))))
    .map((name) => `part ${name} does not belong to any turn`);
}

const FUEL = z.looseObject({ fuel: z.number() });

/** Turns whose parts contradict the manifest. */
function wrongClaims({ manifest, parts }: Receipt): readonly string[] {
  const differs = (name: string, claimed: unknown): boolean => parts[name] !== undefined && readPart(parts[name]) !== claimed;
  const fuelOf = (usage: unknown): unknown => FUEL.safeParse(usage).data?.fuel;
  return manifest.turns
    .filter(({ turn, decision, reason, fuel }) => {
      const usage = parts[`${turn}.usage`];
      return (
        differs(`${turn}.turn`, turn) ||
        differs(`${turn}.decision`, decision) ||
        differs(`${turn}.reason`, reason) ||
        differs(`${turn}.sid`, manifest.sid) ||
        (usage !== undefined && fuelOf(readPart(usage)) !== fuel)
      );
    })
    .map(({ turn }) => `the manifest says of turn ${turn} what its record does not`);
}

/** The value of a part; undefined when it is not JSON, which no record contains. */
function readPart({ json }: Part): unknown {
  return parsedJson(json);
}
