/**
 * Explores every state that a loop of the v1 profile can reach within a number of turns, breadth first. A state is reached by repeating its
 * turns from a new loop. The agent fails after the last turn of a path, which ends a loop that goes on.
 */
import { createHash } from 'node:crypto';
import { RealmSandbox } from '../../../../src/engine/sandbox.ts';
import { AskLoop, runtimeExecutor, type V1LoopResult } from '../../../../src/loop/index.ts';
import { checkSettings, Runtime } from '../../../../src/runtime/index.ts';
import { Halt } from '../../../../src/tools/errors.ts';
import { defineTool } from '../../../../src/tools/index.ts';
import { timeoutError } from '../../../../src/wire/errorinfo.ts';
import type { Bound, Exploration } from '../../../states/explorer.ts';
import { USERDATA } from '../../fake.ts';
import { command, StillClock, sections } from '../bench.ts';
import { type Ceilings, digestOf, type End, endOf, type HaltReason, type Turn } from './model.ts';

/** Lines that a program can emit. */
const LINES = {
  goOn: '{"loop":"continue"}',
  goOnAgain: '{"loop":"continue","notes":"again"}',
  sortedOtherwise: '{"notes":"again","loop":"continue"}',
  done: '{"loop":"done"}',
  abort: '{"loop":"abort","reason":"json"}',
  halt: '{"loop":"halt"}',
  capital: '{"loop":"Continue"}',
  twice: '{"loop":"done","loop":"continue"}',
  list: '["loop","continue"]',
  padded: ' {"loop": "continue"} ',
  markContinue: '[[loop:continue]]',
  markDone: 'so [[loop:done]] it is',
  markAbort: '[[loop:abort]]',
  markAbortWhy: '[[loop:abort:reason=no money]]',
  markHalt: '[[loop:halt:reason=no time]]',
  bareHalt: '[[loop:halt]]',
  unclosed: '[[loop:done',
  endless: `[[loop:abort:reason=${'x'.repeat(257)}]]`,
  plan: 'PLAN {"step":1}',
  otherPlan: 'PLAN {"step":2}',
  prose: 'please continue',
  token: '<<<NSMAG:V3:LOOP:e30.e30>>>',
  blank: '',
} as const;

/** What else can happen in a turn, after its lines. */
const ENDS = { fail: 'execute-error', spin: 'policy', late: 'timeout', denied: 'policy' } as const satisfies Record<
  string,
  HaltReason
>;

interface Move {
  readonly lines: readonly (keyof typeof LINES)[];
  /** `slow` and `slowAgent`: the program or the agent takes more time than there is. `dear`, `cheap`: the tokens of the reply. */
  readonly with?: keyof typeof ENDS | 'slow' | 'slowAgent' | 'dear' | 'garbled';
}

const WALL_MS = 30_000;
const CEILINGS: Ceilings = { turns: 2, wallMs: WALL_MS, turnTokens: 20, totalTokens: 45 };
const [TOKENS, DEAR] = [10, 21];

/** Ceilings of which the turns, and the tokens, are used up first. */
const BEGINNINGS = [
  { permitted: true, ceilings: CEILINGS },
  { permitted: true, ceilings: { ...CEILINGS, turns: 9 } },
  { permitted: true, ceilings: { ...CEILINGS, turns: 9, totalTokens: 20 } },
  { permitted: true, ceilings: { ...CEILINGS, turns: 9, totalTokens: 25 } },
  { permitted: false, ceilings: CEILINGS },
] as const;
type Beginning = (typeof BEGINNINGS)[number];

const clockOf = { clock: new StillClock() };

const TOOLS = [
  defineTool({
    name: 'tool.world.Slow',
    run: () => {
      clockOf.clock.elapsed += WALL_MS;
      return 1;
    },
  }),
  defineTool({
    name: 'tool.world.Late',
    run: () => {
      throw new Halt(timeoutError({ limit: 'wallMs', allowed: 1 }, 'too late'));
    },
  }),
  defineTool({ name: 'tool.denied.Tool', run: () => 1 }),
];

const EXECUTOR = runtimeExecutor(
  new Runtime(
    new RealmSandbox(),
    checkSettings({ tools: TOOLS, policy: { allow: ['*'], deny: ['tool.denied.*'] }, now: () => clockOf.clock.now() }),
  ),
);

const STATEMENTS: Readonly<Record<string, readonly string[]>> = {
  fail: ['fail "on purpose"'],
  spin: ['while true', 'set x = 1', 'endwhile'],
  late: ['set x = tool.world.Late()'],
  denied: ['set x = tool.denied.Tool()'],
  slow: ['set x = tool.world.Slow()'],
};

function replyOf(move: Move): string {
  const said = move.lines.map((line) => `emit ${JSON.stringify(LINES[line])}`);
  return move.with === 'garbled'
    ? 'no program'
    : sections({ ACTIONS: command('set x = 1', ...said, ...(STATEMENTS[move.with ?? ''] ?? [])) });
}

const tokensOf = (move: Move): number => (move.with === 'dear' ? DEAR : TOKENS);

function turnsOf(path: readonly Move[]): readonly Turn[] {
  let elapsed = 0;
  return path.map((move) => {
    const { lines, with: end = 'nothing' } = move;
    elapsed += end === 'slowAgent' ? WALL_MS : 0;
    const replied = elapsed;
    elapsed += end === 'slow' ? WALL_MS : 0;
    const failure = end === 'garbled' ? 'execute-error' : end in ENDS ? ENDS[end as keyof typeof ENDS] : null;
    const stub = { garbled: '[[invalid:ACTIONS:missing_command]]', denied: '[[denied:tool.denied.tool:capability_missing]]' };
    const stubs = end === 'garbled' || end === 'denied' ? [stub[end]] : [];
    const said = end === 'garbled' ? [] : lines.map((line) => LINES[line]);
    return { lines: said, stubs, tokens: tokensOf(move), replied, ended: elapsed, failure };
  });
}

/** The loop with the turns of a path. The agent fails after the last. */
function play(path: readonly Move[], { permitted, ceilings: { turns, ...ceilings } }: Beginning): Promise<V1LoopResult> {
  clockOf.clock = new StillClock();
  const loop = new AskLoop({
    executor: EXECUTOR,
    clock: clockOf.clock,
    system: '',
    ceilings: { ...ceilings, maxTurns: turns, turnFuel: 4000 },
  });
  const reply = async ({ turn }: { readonly turn: number }) => {
    const move = path[turn - 1];
    if (move === undefined) throw new Error('the path ends here');
    if (move.with === 'slowAgent') clockOf.clock.elapsed += WALL_MS;
    return { text: replyOf(move), tokens: tokensOf(move) };
  };
  return loop.run({ agent: { reply }, permitted, userdata: USERDATA, loopId: 'l' });
}

/** The end of a loop whose agent gives no reply after the turns. */
function unanswered(turns: readonly Turn[]): End {
  const { lines = [], stubs = [] } = turns.at(-1) ?? {};
  const output = [...lines, ...stubs, '[[loop:halt:reason=execute-error]]'].join('\n');
  return {
    decision: 'HALT',
    reason: 'execute-error',
    turns: turns.length,
    output: turns.length === 0 ? '[[loop:halt:reason=execute-error]]' : output,
  };
}

const same = (what: string, is: unknown, wanted: unknown): readonly string[] =>
  is === wanted ? [] : [`${what} is ${JSON.stringify(is)}, and the model's ${JSON.stringify(wanted)}`];

/** `turns`: most of them in a loop; `lines`: most of them in a program of the first turn. */
export async function explore({ turns = 0, lines = 0 }: Bound): Promise<Exploration> {
  const seen = new Set<string>();
  let [states, transitions]: [number, number] = [0, 0];
  for (const beginning of BEGINNINGS) {
    let frontier: (readonly Move[])[] = [[]];
    for (let level = 0; level < turns; level += 1) {
      const next: (readonly Move[])[] = [];
      for (const path of frontier.flatMap((before) => movesAt(level, lines).map((move) => [...before, move]))) {
        transitions += 1;
        const result = await play(path, beginning);
        const said = turnsOf(path);
        const end = endOf(said, beginning.permitted, beginning.ceilings);
        const [wrong] = compared(result, end ?? unanswered(said));
        if (wrong !== undefined)
          return { states, transitions, wrong: [wrong, ...path.map((move) => `  ${JSON.stringify(move)}`)].join('\n') };
        const last = said.at(-1);
        const digest = digestOf(last?.lines ?? []);
        const state = [beginning, path.length, said.reduce((sum, { tokens }) => sum + tokens, 0), last?.ended, end ?? digest];
        const key = createHash('sha256').update(JSON.stringify(state)).digest('base64');
        if (seen.has(key)) continue;
        seen.add(key);
        states += 1;
        if (end === null) next.push(path);
      }
      frontier = next;
    }
  }
  return { states, transitions, wrong: null };
}

function compared(result: V1LoopResult, { decision, reason, turns, output }: End): readonly string[] {
  return [
    ...same('AL1-2.7-1: the decision', result.decision, decision),
    ...same('AL1-3-4: the reason', result.reason, reason),
    ...same('AL1-2.5-1: the turns', result.turns.length, turns),
    ...same('AL1-2.6-3: OUTPUT', result.output, output),
  ];
}

const NAMES = Object.keys(LINES) as (keyof typeof LINES)[];

function listsOf(most: number): readonly Move['lines'][] {
  const shorter = most === 0 ? [] : listsOf(most - 1);
  return most === 0
    ? [[]]
    : [
        ...shorter,
        ...shorter.filter(({ length }) => length === most - 1).flatMap((list) => NAMES.map((name) => [...list, name])),
      ];
}

const OTHERS = ['fail', 'spin', 'late', 'denied', 'slow', 'slowAgent', 'dear', 'garbled'] as const;

function movesAt(level: number, lines: number): readonly Move[] {
  const programs = level === 0 ? listsOf(lines) : listsOf(1);
  const more: readonly Move['lines'][] = [
    ['goOn', 'plan'],
    ['goOn', 'otherPlan'],
    ['markContinue', 'plan'],
    ['prose', 'markContinue'],
  ];
  const bases: readonly Move['lines'][] = [['goOn'], ['prose', 'markContinue'], ['done']];
  return [
    ...[...programs, ...(level === 0 && lines > 1 ? [] : more)].map((list) => ({ lines: list })),
    ...OTHERS.flatMap((end) => bases.map((list) => ({ lines: list, with: end }))),
  ];
}
