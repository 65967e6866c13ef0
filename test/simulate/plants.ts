// No module in which something is planted may be loaded with this one.
import { INVARIANTS } from '../../src/testing/simulation/invariants.ts';

/** One mistake in a copy of the sources, and the invariant that finds it. */
export interface Plant {
  readonly name: string;
  readonly file: string;
  /** Occurs in the file once. */
  readonly text: string;
  readonly instead: string;
  /** The invariants of which at least one finds it. */
  readonly found: readonly string[];
  /** The scenario in which it shows. */
  readonly scenario: 'shop' | 'repair';
}

const plant = (file: string, name: string, text: string, instead: string, ...found: readonly string[]): Plant => ({
  name,
  file: `src/${file}.ts`,
  text,
  instead,
  found,
  scenario: 'shop',
});

const { owner, inFlight, fence, once, unchanged, logged, chain, committed, effect, kept, answer, attempts, ends, memory } =
  INVARIANTS;
const STATEMENTS = 'loop/sessions/statements';
const COORDINATOR = 'loop/sessions/coordinator';
const LOG = 'loop/log/chainedfile';
const EARLIER = 'tools/dispatch/earlier';
const DISPATCHER = 'tools/dispatch/dispatcher';

/** A mistake in how a program is corrected within its turn. */
const repair = (...mistake: Parameters<typeof plant>): Plant => ({ ...plant(...mistake), scenario: 'repair' });

/** Mistakes that real programs of this kind have had, one in each line. */
export const PLANTS: readonly Plant[] = [
  // The store and its leases.
  plant(
    STATEMENTS,
    'the store lends a session twice',
    'OR lease_owner = $2 OR lease_until <=',
    'OR TRUE OR lease_until <=',
    owner,
  ),
  plant(
    STATEMENTS,
    'the store takes writes of any claim',
    "const HELD = 'sid = $1 AND fence = $2 AND lease_owner IS NOT NULL';",
    "const HELD = 'sid = $1 AND coalesce($2, 0) = $2 AND lease_owner IS NOT NULL';",
    fence,
  ),
  plant(STATEMENTS, 'claims have no number of their own', 'SET fence = fence + 1, lease_owner', 'SET lease_owner', owner, fence),
  plant(
    STATEMENTS,
    'a process gives up the lease of another one',
    'WHERE sid = $1 AND fence = $2`,\n    start:',
    'WHERE sid = $1 AND coalesce($2, 0) = $2`,\n    start:',
    owner,
  ),
  plant(
    STATEMENTS,
    'a lost lease is renewed',
    "WHERE sid = (one ->> 'sid') AND fence =",
    "WHERE sid = (one ->> 'sid') OR fence =",
    fence,
  ),
  plant(
    STATEMENTS,
    'a call that has expired keeps its session asleep',
    'waits_until = NULL\n       WHERE sid IN (',
    'waits_until = NULL\n       WHERE FALSE AND sid IN (',
    ends,
  ),
  plant(
    STATEMENTS,
    'kept calls are lost',
    'SELECT $1, started_nonce, $3, $4, $5 FROM (',
    "SELECT $1, started_nonce || '-', $3, $4, $5 FROM (",
    kept,
  ),
  // How a process judges its own lease.
  plant(
    'loop/sessions/lease',
    'a process never doubts its lease',
    'if (this.#clock.monotonic() < session.until) return true;',
    'if (session.until !== LOST) return true;',
    inFlight,
    logged,
  ),

  // Decisions and their log.
  plant(
    COORDINATOR,
    'a decision in doubt is logged anyway',
    'if (isNew || !(await this.#log.has(sid, turn))) {',
    'if (isNew || sid !== null) {',
    logged,
  ),

  plant(
    'loop/sessions/tending',
    'nobody logs what a dead process left',
    'await sessions.release(await sessions.claim(sid));\n        return true;',
    'return sid === sid;',
    ends,
    logged,
  ),
  plant(
    COORDINATOR,
    'an end between two turns is marked, not logged',
    'const end: readonly LogEntry[] = unloggedEnd === null ? [] : [endEntry(state, unloggedEnd)];',
    'const end: readonly LogEntry[] = [];',
    ends,
    logged,
  ),
  plant(
    'loop/after',
    'a turn is decided under the number of the next one',
    'nextTurn: state.nextTurn + 1,\n    output',
    'nextTurn: state.nextTurn,\n    output',
    committed,
    once,
    ends,
  ),
  plant('loop/after', 'the chain of records is not carried on', 'head: seal?.hash ?? state.head,', 'head: state.head,', chain),
  // The files of the log.
  plant(LOG, 'a torn line counts as logged', 'if (finished && line?', 'if (line?', logged),
  plant(LOG, 'a torn line is not cut off', 'this.#disk.truncate(file, found.end);', '', chain),
  plant(
    LOG,
    'a process knows the end of the log for ever',
    'if (this.#tail?.inode === inode && this.#tail.size === size)',
    'if (this.#tail !== null)',
    chain,
  ),
  plant(
    LOG,
    'a process cuts off the last line of the log',
    'this.#disk.truncate(file, found.end);',
    'this.#disk.truncate(file, 0);',
    unchanged,
    logged,
    chain,
  ),
  // Calls of tools.
  plant(
    'tools/dispatch/invoke',
    'the key of a call changes with the claim',
    'callDigest(this.#tool, this.#args)}',
    'callDigest(this.#tool, this.#args).slice(this.fence ?? 0)}',
    effect,
  ),
  plant(
    'tools/dispatch/invoke',
    'two turns share the keys of their calls',
    'this.#id = id;',
    "this.#id = () => id().replace(/^[0-9]+/, '1');",
    effect,
    kept,
    committed,
  ),
  plant(
    'loop/decide',
    'a repeated turn asks its agent again',
    'before !== null && before.reply !== null',
    "before !== null && before.reply === ''",
    'nobody pays twice',
  ),
  plant(
    DISPATCHER,
    'a call begins without a note',
    "if (call.t === 'prompt') return null;",
    "if (call.t !== 'ask') return null;",
    kept,
  ),
  plant(
    'loop/turn/attempt',
    'calls in doubt are made again',
    'const keeper = keep && new TurnKeeper(',
    'const keeper = undefined && new TurnKeeper(',
    kept,
  ),
  plant(
    'loop/suspend/resume',
    'a turn that waited makes its calls again',
    'recorded: continued({ run, journal, waiting, alsoWaiting }',
    'recorded: continued({ run, journal: [], waiting, alsoWaiting }',
    kept,
    effect,
  ),
  plant(
    'loop/suspend/complete',
    'a second answer replaces the first',
    'if (stored.completion !== null) throw',
    'if (stored.completion === undefined) throw',
    answer,
  ),
  // Calls that run together, and nested turns.
  plant('loop/turn/keeper', 'a call is kept before the run that makes it', '    await first.kept;\n', '', ends),
  plant(
    'loop/ask/nested',
    'the calls of a nested turn have keys of their own',
    'if (origin === null || turnIndex === null) return {};',
    'if (origin !== null) return {};',
    'nobody pays twice',
    effect,
  ),
  // Attempts at a turn.
  repair(
    'loop/plan',
    'a call does not ask whether its process may act',
    'mayAct: () => stepper.coordinator.lasts(session),',
    'mayAct: () => session !== null,',
    inFlight,
  ),
  repair(
    EARLIER,
    'a failed or denied call is answered from the journal',
    'return entry.outcome.ok && entry.from === undefined',
    'return entry.from === undefined',
    'an earlier answer is taken once, by the same call',
  ),
  repair(
    EARLIER,
    'a recorded call is taken twice',
    'answer.taken = true;\n      return {',
    'return {',
    'an earlier answer is taken once, by the same call',
  ),
  repair(
    'loop/record/attempt',
    'the token of an earlier attempt stays good',
    'attempts.filter(countsForTurn).flatMap(({ jtis }) => jtis)',
    "attempts.flatMap(({ end, jtis }) => (end === 'rejected' ? jtis : []))",
    'the token of an earlier attempt decides nothing',
  ),
  repair(
    'loop/decide',
    'an attempt is not stored before its agent is asked again',
    '  await stepper.coordinator.start(started, session);\n  watcher.emit',
    '  watcher.emit',
    'the record of a turn knows its attempts',
    attempts,
  ),
  repair(
    'tools/dispatch/numbers',
    'a call that failed gets another key',
    'if (isAnswered) this.#answer',
    'if (digest) this.#answer',
    'no effect happens twice for the same call',
  ),
  plant(
    'tools/dispatch/numbers',
    'the key of a call depends on those before it',
    'let number = 1 + (this.#last.get(digest) ?? 0);',
    'let number = 1 + (this.#last.get(digest) ?? this.#last.size);',
    'nobody pays twice',
  ),
  repair(
    'loop/again',
    'a worker that dies twice forgets the calls before',
    'journal: [...before.journal, ...ended]',
    'journal: ended',
    kept,
    'no effect happens twice for the same call',
  ),
  repair(
    'loop/record/attempt',
    'every attempt has all of the fuel',
    "['fuel', ({ usage }) => usage.fuel],",
    "['fuel', ({ usage }) => usage.cpuMs],",
    'limits hold for all attempts together',
  ),
  repair(
    'runtime/end',
    'a worker that dies early has made fewer than no calls',
    'Math.max(0, used.toolCalls - taken)',
    'used.toolCalls - taken',
    'limits hold for all attempts together',
    ends,
  ),
  repair(
    'loop/sessions/interrupted',
    'a turn without an end leaves no effects over',
    'untakenCalls(journalsOf(attempts), journal)',
    'untakenCalls([], journal)',
    'the record of a turn knows its attempts',
  ),
  // What a process leaves behind.
  plant('loop/turn/consult', 'the timer of a reply is forgotten', '    clearTimeout(timer);\n', '', memory),
  plant('loop/sharedlock', 'a lock is not given back', 'this.#holders -= 1;', '', ends),
];
