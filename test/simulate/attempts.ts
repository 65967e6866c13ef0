import type { FailedAttempt, TurnRecord } from '../../src/loop/index.ts';
import { MAGIC_TOOL } from '../../src/tools/index.ts';
import { type EarlierCall, inOrder, type JournalEntry } from '../../src/wire/journal.ts';

/** What a world knows of one turn, besides its record. */
export interface Witness {
  /** The replies of the turn's agent. */
  readonly replies: ReadonlySet<string>;
  /** The highest number of an attempt of which the agent was told. */
  readonly told: number;
  /** How often a call had its effect; null where a crash may repeat it. */
  readonly effects: ReadonlyMap<string, number> | null;
  readonly limits: { readonly fuel: number; readonly toolCalls: number };
  /** Canonical names of the tools that change something. */
  readonly writing: ReadonlySet<string>;
  /** Those whose repeated call with the same key has no second effect. */
  readonly keyed: ReadonlySet<string>;
}

type ToolEntry = JournalEntry & { readonly kind: 'tool' };

/** Identifies a call by tool and arguments. */
export function callText(tool: string, args: readonly unknown[]): string {
  return `${tool}(${JSON.stringify(args)})`;
}

const textOf = ({ name, args }: ToolEntry): string => callText(name, args);
const isTool = (entry: JournalEntry): entry is ToolEntry => entry.kind === 'tool' && entry.name !== MAGIC_TOOL;
const ran = ({ end }: FailedAttempt): boolean => end !== 'interrupted';

/** Why no answer of earlier attempts was used wrongly: each once, by the same call, and before a call is made; null when all is right. */
export function answersProblem({ attempts = [], journal }: TurnRecord): string | null {
  for (const [index, each] of [...attempts.map((attempt) => attempt.journal), journal].entries()) {
    const recorded = new Map<string, string>();
    for (const [before, attempt] of attempts.slice(0, index).entries())
      for (const entry of ran(attempt) ? attempt.journal : [])
        if (isTool(entry) && entry.outcome.ok && entry.from === undefined)
          recorded.set(placeOf({ attempt: before + 1, seq: entry.seq }), textOf(entry));
    for (const entry of inOrder(each).filter(isTool)) {
      const call = textOf(entry);
      const where = `attempt ${index + 1}, call ${entry.seq} (${call})`;
      if (entry.from !== undefined) {
        const place = placeOf(entry.from);
        if (recorded.get(place) !== call) return `${where} took the answer of ${place}, which has none for it`;
        recorded.delete(place);
      } else if (entry.outcome.ok && recorded.values().some((other) => other === call))
        return `${where} was made, although an earlier attempt has the answer`;
    }
  }
  return null;
}

function placeOf({ attempt, seq }: EarlierCall): string {
  return `${attempt}.${seq}`;
}

/** An effect that was made more often than the programs of the turn can account for; null when there is none. */
export function effectsProblem(
  { attempts = [], journal, inputs, reason, error }: TurnRecord,
  { effects, keyed }: Witness,
): string | null {
  // The journal of a turn that ends before its program has come to its end again does not hold its last calls.
  if (effects === null || inputs.scene === null || reason === 'ERR_CANCELLED' || error?.code === 'ERR_WORKER') return null;
  const journals = [...attempts.filter(ran).map((attempt) => attempt.journal), journal].map((each) => each.filter(isTool));
  for (const [call, made] of effects) {
    const counts = journals.map((each) => each.filter((entry) => textOf(entry) === call));
    const tool = call.slice(0, call.indexOf('('));
    // A call that failed is made again. With the same key it has no second effect.
    const most = keyed.has(tool)
      ? Math.max(...counts.map((entries) => entries.length))
      : counts.flat().filter(({ from }) => from === undefined).length;
    if (made > most) return `${call} had its effect ${made} times, and ${most} calls account for it`;
  }
  return null;
}

/** A token of an earlier attempt that decided the turn; null when there is none. */
export function tokensProblem({ attempts = [], candidates, jti, decision, inputs }: TurnRecord): string | null {
  const old = new Set(attempts.flatMap((attempt) => (ran(attempt) ? attempt.jtis : [])));
  const accepted = candidates.find((candidate) => candidate.ok && candidate.jti !== null && old.has(candidate.jti));
  if (accepted !== undefined) return `the token ${accepted.jti} of an earlier attempt was accepted`;
  if (decision === 'HALT') return null;
  return jti === null || !inputs.jtis.includes(jti) ? `it was decided by a token that it did not mint: ${jti}` : null;
}

/** A limit that the attempts exceed together; null when there is none. */
export function quotaProblem({ attempts = [], usage, error }: TurnRecord, { limits }: Witness): string | null {
  const used = [...attempts.filter(ran).map((attempt) => attempt.usage), usage];
  const fuel = used.reduce((sum, each) => sum + each.fuel, 0);
  const toolCalls = used.reduce((sum, each) => sum + each.toolCalls, 0);
  if (used.some((each) => each.toolCalls < 0)) return 'an attempt made fewer than no calls';
  if (fuel > limits.fuel) return `its attempts used ${fuel} units of fuel, and ${limits.fuel} are allowed`;
  // The call that breaches the limit is counted, and not made.
  const isBreach = error?.code === 'ERR_QUOTA';
  return toolCalls - Number(isBreach) > limits.toolCalls
    ? `its attempts made ${toolCalls} calls, and ${limits.toolCalls} are allowed`
    : null;
}

/** What the record says wrongly about its attempts; null when it tells the truth. */
export function recordProblem(record: TurnRecord, { replies, told, writing, effects }: Witness): string | null {
  const { attempts = [], leftOver = [], journal, decision, inputs } = record;
  if (attempts.length < told) return `the agent was told of attempt ${told}, and the record has ${attempts.length}`;
  const foreign = attempts.find(({ reply }) => !replies.has(reply));
  if (foreign !== undefined) return `an attempt has a reply that nobody gave: ${foreign.reply}`;
  const taken = new Set(journal.flatMap(({ from }) => (from === undefined ? [] : [placeOf(from)])));
  const expected = attempts.flatMap((attempt, index) =>
    ran(attempt)
      ? attempt.journal.filter(isTool).flatMap(({ seq, name, outcome, from }) => {
          const place = placeOf({ attempt: index + 1, seq });
          return outcome.ok && from === undefined && (inputs.scene === null || writing.has(name)) && !taken.has(place)
            ? [`${place} ${name}`]
            : [];
        })
      : [],
  );
  const named = leftOver.map(({ tool, ...call }) => `${placeOf(call)} ${tool}`);
  if (named.toSorted().join() !== expected.toSorted().join())
    return `the effects that are left over are ${expected.join(', ')}, and the record says ${named.join(', ')}`;
  if (effects === null || decision === 'HALT') return null;
  const known = new Set([...attempts.map((attempt) => attempt.journal), journal].flat().filter(isTool).map(textOf));
  const unknown = effects.keys().find((call) => !known.has(call));
  return unknown === undefined ? null : `${unknown} had its effect, and the record does not know it`;
}
