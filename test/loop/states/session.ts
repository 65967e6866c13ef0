/** The session that a reader of the specification expects. It takes the same moves as the world, and says where the world differs. */
import type { LogEntry, SessionState, TurnRecord } from '../../../src/loop/index.ts';
import { type Decision, type Progress, type Token, type Verdict, verdictOf } from './model.ts';
import { plainLine, type Ran, ran, type Step, whispers } from './program.ts';
import { MOST_TOKENS, MOST_TURNS, type Move, type Outcome, REPLY_TOKENS, type World } from './world.ts';

const MOST_EQUAL = 3;
const STATUS = { CONTINUE: 'open', DONE: 'done', ABORT: 'aborted', HALT: 'halted' } as const;

interface Waiting {
  readonly ran: Ran;
  readonly expired: boolean;
  readonly answer: 'answer' | 'refuse' | null;
}

interface Streams {
  readonly output: readonly string[];
  readonly scratchpad: readonly string[];
}

const SILENT: Streams = { output: [], scratchpad: [] };

const sorted = (codes: readonly string[]): string => [...codes].sort().join();

export class Session {
  status: 'open' | 'done' | 'aborted' | 'halted' = 'open';
  reason: string | null = null;
  nextTurn = 1;
  progress: Progress = { digest: null, repeats: 0 };
  tokens = 0;
  carried: Streams = SILENT;
  waiting: Waiting | null = null;
  readonly #counts = new Map<string, number>();
  #logged = 0;
  #consulted = 0;
  /** How many of the texts that the world said are used. */
  #said = 0;

  /** What is wrong with how the world took a move. */
  async take(world: World, move: Move, outcome: Outcome): Promise<readonly string[]> {
    const wrong = [...world.wrongs.splice(0), ...this.#move(world, move, outcome)];
    return [...wrong, ...this.#compared(await world.state(), world)];
  }

  /** All that the future depends on. */
  state(world: World): string {
    const hidden = (text: string): string => text.replace(/[\w-]{20,}/g, '#');
    const keys = [...world.keys].map(([kid, until]) => [kid, until === null ? null : Math.max(-1, until - world.now)]);
    const { status, reason, nextTurn, progress, tokens, carried, waiting } = this;
    const said = waiting === null ? [] : world.said.map(hidden);
    const ages = waiting === null ? [] : world.said.map((text) => world.now - (world.tokens.get(text)?.issuedAt ?? world.now));
    const seen = { output: carried.output.map(hidden), scratchpad: carried.scratchpad.map(hidden) };
    const session = [status, reason, nextTurn, progress.repeats, tokens, seen, waiting, said, ages];
    return JSON.stringify([session, keys, world.signers, world.old !== null]);
  }

  #move(world: World, move: Move, outcome: Outcome): readonly string[] {
    switch (move.do) {
      case 'turn':
      case 'resume':
        return this.#turn(world, move.do === 'turn' ? move.steps : [], outcome);
      case 'drive':
        return this.#drive(world, move.steps, move.most, outcome);
      case 'mute':
        this.#consulted += 1;
        return expected('ERR_AGENT', outcome);
      case 'prose':
        this.#consulted += 1;
        return this.#decided(world, SILENT, { ...NOTHING, reason: 'ERR_ENV_MARKERS_INVALID', progress: this.progress }, outcome);
      case 'cancel':
        if (this.status !== 'open') return expected('false', outcome);
        this.#halted('ERR_CANCELLED', this.waiting !== null);
        return expected('true', outcome);
      case 'expire':
        if (this.waiting !== null) this.waiting = { ...this.waiting, expired: true };
        return [];
      case 'answer':
      case 'refuse':
        if (this.waiting === null) return [];
        if (this.waiting.answer !== null) return expected('ERR_CALL_COMPLETED', outcome);
        if (this.waiting.expired) return expected('ERR_CALL_EXPIRED', outcome);
        this.waiting = { ...this.waiting, answer: move.do };
        return expected('answered', outcome);
      default:
        return [];
    }
  }

  #turn(world: World, steps: readonly Step[], outcome: Outcome): readonly string[] {
    if (this.status !== 'open') return expected('ERR_SESSION_STATE', outcome);
    const { waiting } = this;
    if (waiting === null) {
      this.#said = 0;
      this.#consulted += 1;
      return this.#ended(world, ran(steps, world.signersBefore), outcome);
    }
    if (waiting.answer === null && !waiting.expired) return expected('ERR_SUSPENDED', outcome);
    if (waiting.answer === null) {
      const verdict = { ...NOTHING, reason: 'ERR_CALL_EXPIRED', progress: this.progress };
      return this.#decided(world, SILENT, verdict, outcome, []);
    }
    const failed = waiting.answer === 'refuse' && !waiting.ran.careful;
    const after = failed ? { ...waiting.ran, end: 'ERR_EXEC' } : ran(waiting.ran.rest, world.signersBefore, waiting.ran);
    this.#said = 0;
    return this.#ended(world, after, outcome);
  }

  #ended(world: World, after: Ran, outcome: Outcome): readonly string[] {
    if (after.end === 'ERR_SUSPENDED') {
      this.waiting = { ran: after, expired: false, answer: null };
      return expected('ERR_SUSPENDED', outcome);
    }
    const streams = this.#streams(world, after.spoke);
    return this.#decided(world, streams, this.#verdict(world, after, streams), outcome);
  }

  #verdict(world: World, { end, mintFailed }: Ran, streams: Streams): Verdict {
    const { now, keys, tokens } = world;
    return verdictOf({
      turn: this.nextTurn,
      end,
      mintFailed,
      ...streams,
      tokens,
      now,
      keys,
      before: this.progress,
      most: MOST_EQUAL,
    });
  }

  #streams(world: World, spoke: readonly Step[]): Streams {
    const [output, scratchpad]: [string[], string[]] = [[], []];
    for (const step of spoke) {
      const plain = plainLine(step, this.nextTurn);
      (whispers(step) ? scratchpad : output).push(plain ?? world.said[this.#said++] ?? 'never said');
    }
    return { output, scratchpad };
  }

  /** Compares a decided turn. `states` are those through which the turn must have gone. */
  #decided(world: World, streams: Streams, verdict: Verdict, outcome: Outcome, states = statesOf(verdict)): readonly string[] {
    if (typeof outcome === 'string' || !('candidates' in outcome)) {
      this.#end(verdict, streams);
      return [`AL3-1-1: no decision but ${JSON.stringify(outcome).slice(0, 200)}`];
    }
    const wrong = [
      ...this.#judged(world, streams, verdict, outcome, world.log.entries.at(-1)),
      ...same('AL3-2-1: the states of the turn', world.states.join(), states.join()),
    ];
    this.#end(verdict, streams);
    if (verdict.decision === 'CONTINUE') world.old = world.said.find((text) => world.tokens.has(text)) ?? world.old;
    return wrong;
  }

  #judged(world: World, streams: Streams, verdict: Verdict, record: TurnRecord, entry: LogEntry | undefined): readonly string[] {
    const { decision, reason, overridden, jti, failure, lints } = verdict;
    const kid = [...world.tokens.values()].find((token: Token) => token.jti === jti && token.jti !== '')?.kid ?? null;
    const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
    // A line that is too long may be in OUTPUT or not: nobody reads it.
    const cut = reason === 'ERR_ENV_SIZE';
    return [
      ...same('AL3-5.3-1: the decision', record.decision, decision),
      ...same('AL3-5.3-4: the reason', record.reason, reason),
      ...same('AL3-5.3-2: the chosen token', record.jti, jti),
      ...same('A3-6.3-12: the key of the chosen token', record.kid, kid),
      ...same('AL3-11-4: the overridden decision', record.overridden, overridden),
      ...same('A3-10-2: the failure', record.verificationFailureReason, failure),
      ...same('A3-5.3-4: the lints', sorted(record.lints.map(({ code }) => code)), sorted(lints)),
      ...(cut ? [] : same('A3-11.4-5: OUTPUT', record.output, text(streams.output))),
      ...same('A3-4-3: SCRATCHPAD', record.scratchpad, text(streams.scratchpad)),
      ...same('A3-10-1: the turn in the log', entry?.turn_index, this.nextTurn),
      ...same('A3-10-1: the decision in the log', entry?.decision, decision),
      ...same('A3-10-2: the reason in the log', entry?.reason ?? null, reason),
      ...same('A3-10-2: the token in the log', entry?.jti ?? null, jti),
      ...same('A3-10-2: the failure in the log', entry?.verification_failure_reason ?? null, failure),
      ...same('A3-10-2: the overridden decision in the log', entry?.overridden_decision ?? null, overridden),
    ];
  }

  /** A decided turn. */
  #end({ decision, reason, progress, failures, lints }: Verdict, streams: Streams): void {
    const goesOn = decision === 'CONTINUE';
    this.#finish(decision, reason, goesOn ? streams : SILENT);
    this.progress = progress;
    this.nextTurn += 1;
    for (const name of [decision, ...failures, ...lints]) this.#count(name);
    if (reason === 'ERR_NO_PROGRESS') this.#count(reason);
  }

  /** An end between two turns, or of a turn that waits. */
  #halted(reason: string, isTurn: boolean): void {
    this.#finish('HALT', reason, SILENT);
    if (!isTurn) return;
    this.nextTurn += 1;
  }

  #finish(decision: Decision, reason: string | null, carried: Streams): void {
    this.status = STATUS[decision];
    this.reason = reason;
    this.carried = carried;
    this.waiting = null;
    this.#logged += 1;
  }

  #count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  #drive(world: World, steps: readonly Step[], most: 'turns' | 'tokens', outcome: Outcome): readonly string[] {
    if (this.status !== 'open') return expected('ERR_SESSION_STATE', outcome);
    if (typeof outcome === 'string' || !('turns' in outcome)) return [`AL3-11-7: the loop ends with ${JSON.stringify(outcome)}`];
    const wrong: string[] = [];
    this.#said = 0;
    let [decision, reason]: [string, string | null] = ['CONTINUE', null];
    let taken = 0;
    for (; decision === 'CONTINUE'; taken += 1) {
      const full = most === 'turns' ? this.nextTurn > MOST_TURNS : this.#consulted * REPLY_TOKENS >= MOST_TOKENS;
      if (full) {
        [decision, reason] = ['HALT', most === 'turns' ? 'ERR_MAX_TURNS' : 'ERR_QUOTA'];
        this.#halted(reason, false);
        break;
      }
      this.#consulted += 1;
      const after = ran(steps, world.signersBefore);
      const streams = this.#streams(world, after.spoke);
      const verdict = this.#verdict(world, after, streams);
      const record = outcome.turns[taken];
      const entry = world.log.entries.find(({ turn_index }) => turn_index === this.nextTurn);
      if (record === undefined) return [`AL3-11-7: turn ${this.nextTurn} is missing`];
      wrong.push(...this.#judged(world, streams, verdict, record, entry));
      this.#end(verdict, streams);
      ({ decision, reason } = verdict);
    }
    return [
      ...wrong,
      ...same('AL3-11-7: the turns that the loop takes', outcome.turns.length, taken),
      ...same('AL3-11-7: the end of the loop', `${outcome.decision} ${outcome.reason}`, `${decision} ${reason}`),
    ];
  }

  /** The stored session, the log and the counters. */
  #compared(state: SessionState, world: World): readonly string[] {
    const { decisions_total, verify_fail_total, lint_total, ttl_expired_total, jti_dup_total, no_progress_total } =
      world.metrics.snapshot();
    const body = (lines: readonly string[]): string | null => (lines.length === 0 ? null : lines.join('\n'));
    const counted = { ...decisions_total, ...verify_fail_total, ...lint_total };
    const counts = [...this.#counts].filter(([name]) => name !== 'ERR_NO_PROGRESS');
    const countOf = (name: string): number => this.#counts.get(name) ?? 0;
    return [
      ...same('AL3-2-2: the session', `${state.status} ${state.reason}`, `${this.status} ${this.reason}`),
      ...same('A3-8-8: the next turn', state.nextTurn, this.nextTurn),
      ...same('AL3-6-3: the repeats', state.progress.repeats, this.progress.repeats),
      ...same('AL3-6-2: the digest', state.progress.digest, this.progress.digest),
      ...same('A3-8-6: OUTPUT of the next envelope', state.output, body(this.carried.output)),
      ...same('A3-8-6: SCRATCHPAD of the next envelope', state.scratchpad, body(this.carried.scratchpad)),
      ...same('A3-10-1: the entries of the log', world.log.entries.length, this.#logged),
      ...same('AL3-5.1-1: the requests to the agent', world.consulted, this.#consulted),
      ...same('A3-10-4: the counters', sorted(Object.entries(counted).map(String)), sorted(counts.map(String))),
      ...same('A3-10-5: the counter of expired tokens', ttl_expired_total, countOf('ERR_TOKEN_TTL')),
      ...same('A3-10-6: the counter of used tokens', jti_dup_total, countOf('ERR_TOKEN_REPLAY')),
      ...same('AL3-9-2: the counter of the guard', no_progress_total, countOf('ERR_NO_PROGRESS')),
    ];
  }
}

const NOTHING = { decision: 'HALT', overridden: null, jti: null, failure: null, failures: [], lints: [] } as const;

const statesOf = ({ decision }: Verdict): readonly string[] => [
  'EXECUTING',
  'VERIFYING',
  'DECIDED',
  decision === 'CONTINUE' ? 'EMIT_NEXT' : 'FINAL',
];

const same = (what: string, is: unknown, wanted: unknown): readonly string[] =>
  is === wanted ? [] : [`${what} is ${JSON.stringify(is)}, and the model's ${JSON.stringify(wanted)}`];

const expected = (wanted: string, outcome: Outcome): readonly string[] =>
  typeof outcome === 'string' ? same('AL3-2-1: the answer', outcome, wanted) : [`AL3-2-1: a decision where ${wanted} is due`];
