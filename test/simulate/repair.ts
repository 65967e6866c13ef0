import { type Agent, programReply, type TurnRecord } from '../../src/loop/index.ts';
import type { Random } from '../../src/testing/simulation/random.ts';
import type { Invariant, Scenario, World } from '../../src/testing/simulation/scenario.ts';
import { defineTool, ToolError } from '../../src/tools/index.ts';
import {
  answersProblem,
  callText,
  effectsProblem,
  quotaProblem,
  recordProblem,
  tokensProblem,
  type Witness,
} from './attempts.ts';
import { toldIn } from './told.ts';

const CALLS = ['tool.bank.Pay("a")', 'tool.bank.Pay("b")', 'tool.mail.Send("a")', 'tool.mail.Send("b")'];
const OTHERS = ['tool.shop.Price("tea")', 'tool.desk.Try("a")', 'tool.desk.Try("b")', 'tool.memo.Get()'];
const WRITING = new Set(['tool.bank.pay', 'tool.mail.send', 'tool.desk.try']);
const KEYED = new Set(['tool.bank.pay']);
const LIMITS = { fuel: 1200, toolCalls: 9 };

/** A program of a turn: its calls, and what surrounds them. */
interface Draft {
  readonly calls: readonly string[];
  /** Lines beside the calls that are wrong, and the place before which they stand. */
  readonly slip: string | null;
  readonly at: number;
  /** Whether a handler clears the errors of calls. */
  readonly isCareful: boolean;
  /** Whether the first two calls run together. */
  readonly isTogether: boolean;
}

const SLIPS = ['fail "it is late"', 'emit nil.first', 'let x = 1', 'call tool.mail.Sent("a")', 'call greet()'];
const MINT = 'tool.aeiou.magic("LOOP", {"action": "ACTION"})';

function textOf({ calls, slip, at, isCareful, isTogether }: Draft, end: readonly string[]): string {
  const lines = calls.map((call, index) => `  set v${index} = ${call}`);
  const slipped = slip === null ? lines : lines.toSpliced(Math.min(at, lines.length), 0, `  ${slip}`);
  const joined =
    isTogether && calls.length > 1 && (slip === null || at > 1)
      ? ['  together', ...slipped.slice(0, 2), '  endtogether', ...slipped.slice(2)]
      : slipped;
  const handler = isCareful ? ['  on error do', '    clear_error', '  endon'] : [];
  return ['command', ...handler, ...joined, ...end, 'endcommand'].join('\n');
}

const CALL_LINE = /^\s*set v\d+ = (.*)$/gm;

/** The calls of a program after an edit: the same, one changed, dropped, added, or two in another order. */
function edited(calls: readonly string[], random: Random): readonly string[] {
  const at = random.between(0, Math.max(0, calls.length - 1));
  const other = random.pick([...CALLS, ...OTHERS]);
  switch (random.between(0, 5)) {
    case 0:
      return calls.toSpliced(at, 1, other);
    case 1:
      return calls.toSpliced(at, 1);
    case 2:
      return calls.toSpliced(at, 0, other);
    case 3:
      return calls.toReversed();
    default:
      return calls;
  }
}

/** The last lines of a program: usually a new token, sometimes one that an earlier attempt kept. */
function endOf(action: string, random: Random): readonly string[] {
  const mint = MINT.replace('ACTION', action);
  if (random.chance(0.15)) return ['  if false', `    emit ${mint}`, '  endif', '  emit tool.memo.Get()'];
  return random.chance(0.3)
    ? [`  set t = ${mint}`, '  call tool.memo.Put(t)', random.chance(0.6) ? '  fail "after its token"' : '  emit t']
    : [`  emit ${mint}`];
}

/** The tools of a world, and what has become of their calls. */
class Office {
  /** Effects of the turns, by session and turn: the keys or the number of each call. */
  readonly #effects = new Map<string, Map<string, Set<string>>>();
  readonly #memos = new Map<string, string>();
  readonly #tried = new Set<string>();
  #count = 0;

  readonly tools = [
    this.#writes('tool.bank.Pay', true),
    this.#writes('tool.mail.Send', false),
    defineTool({
      name: 'tool.desk.Try',
      args: [{ name: 'what', type: 'string' }],
      run: ({ what }, { turn }) => {
        const call = `${turn.sessionId} ${turn.turnIndex} ${what}`;
        if (!this.#tried.has(call)) {
          this.#tried.add(call);
          throw new ToolError(17, 'try again');
        }
        return 'done';
      },
    }),
    defineTool({
      name: 'tool.shop.Price',
      effects: 'read',
      args: [{ name: 'item', type: 'string' }],
      run: ({ item }) => item.length,
    }),
    defineTool({
      name: 'tool.memo.Put',
      effects: 'none',
      args: [{ name: 'text', type: 'string' }],
      run: ({ text }, { turn }) => void this.#memos.set(String(turn.sessionId), text),
    }),
    defineTool({
      name: 'tool.memo.Get',
      effects: 'none',
      run: (_, { turn }) => this.#memos.get(String(turn.sessionId)) ?? '',
    }),
  ];

  #writes(name: string, idempotent: boolean) {
    return defineTool({
      name,
      idempotent,
      args: [{ name: 'what', type: 'string' }],
      run: ({ what }, { call, turn }) => {
        const place = `${turn.sessionId} ${turn.turnIndex}`;
        const effects = this.#effects.get(place) ?? new Map<string, Set<string>>();
        this.#effects.set(place, effects);
        const text = callText(name.toLowerCase(), [what]);
        const made = effects.get(text) ?? new Set();
        effects.set(text, made);
        this.#count += 1;
        made.add(idempotent ? String(call.key) : String(this.#count));
        return `done ${made.size}`;
      },
    });
  }

  /** How often the calls of a turn had their effect. */
  effectsOf(sid: string, turn: number): ReadonlyMap<string, number> {
    const effects = this.#effects.get(`${sid} ${turn}`) ?? new Map<string, Set<string>>();
    return new Map([...effects].map(([call, made]) => [call, made.size]));
  }
}

/** An office: agents whose programs fail or are rejected, and who correct them in every way. */
export function repair(world: World): Scenario {
  const { random } = world;
  const office = new Office();
  const replies = new Map<string, Set<string>>();
  const told = new Map<string, number>();
  const count = random.pick([1, 1, 1, 2]);
  const lengths = Array.from({ length: count }, () => random.pick([1, 1, 2]));
  const durable = Array.from({ length: count }, () => (random.chance(0.75) ? ('call' as const) : ('turn' as const)));
  const indexOf = (sid: string): number => Number(sid.slice(1)) - 1;
  const first = (): readonly string[] =>
    Array.from({ length: random.between(1, 4) }, () => random.pick([...CALLS, ...CALLS, ...OTHERS]));
  const agent: Agent = {
    name: 'clerk',
    reply: async ({ sid, turn, attempt, prompt }) => {
      const place = `${sid} ${turn}`;
      const last = toldIn(prompt);
      const failed = last?.program ?? null;
      if (last !== null) told.set(place, Math.max(told.get(place) ?? 0, last.attempt));
      const before = failed === null ? first() : [...failed.matchAll(CALL_LINE)].map(([, call = '']) => call);
      const calls = failed === null ? before : edited(before, random);
      const draft: Draft = {
        calls,
        slip: random.chance(attempt === 1 ? 0.6 : 0.25) ? random.pick(SLIPS) : null,
        at: random.between(0, calls.length),
        isCareful: random.chance(0.25),
        isTogether: random.chance(0.25),
      };
      const action = turn < (lengths[indexOf(sid)] ?? 1) ? 'continue' : 'done';
      const reply = programReply(textOf(draft, endOf(action, random)));
      const given = replies.get(place) ?? new Set();
      replies.set(place, given.add(reply));
      return reply;
    },
  };
  const witness = ({ sid, turn }: TurnRecord): Witness => ({
    replies: replies.get(`${sid} ${turn}`) ?? new Set(),
    told: told.get(`${sid} ${turn}`) ?? 0,
    effects: durable[indexOf(sid)] === 'call' ? office.effectsOf(sid, turn) : null,
    limits: LIMITS,
    writing: WRITING,
    keyed: KEYED,
  });
  const ofTurns =
    (problemOf: (record: TurnRecord, witness: Witness) => string | null): Invariant =>
    ({ sessions, turns }) => {
      for (const { sid } of sessions)
        for (const record of turns(sid)) {
          const problem = problemOf(record, witness(record));
          if (problem !== null) return `turn ${record.turn} of ${sid}: ${problem}`;
        }
      return null;
    };
  return {
    agent,
    tools: office.tools,
    limits: LIMITS,
    sessions: lengths.map((_, index) => ({ userdata: { subject: 'office', fields: {} }, durable: durable[index] ?? 'call' })),
    // A person allows some changed calls, and finds out what became of a call whose process died.
    answer: ({ reason }) => ({
      result: reason.includes('answer true to allow') ? random.chance(0.7) : 'done, as a person found out',
    }),
    invariants: {
      'an earlier answer is taken once, by the same call': ofTurns(answersProblem),
      'no effect happens twice for the same call': ofTurns(effectsProblem),
      'the token of an earlier attempt decides nothing': ofTurns(tokensProblem),
      'limits hold for all attempts together': ofTurns(quotaProblem),
      'the record of a turn knows its attempts': ofTurns(recordProblem),
    },
  };
}
