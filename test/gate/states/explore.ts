/**
 * Explores every state that a queue can reach within a number of moves from its beginnings, breadth first. A state is reached by
 * repeating its moves from an empty queue, because a process in the middle of its work cannot be copied.
 */
import { createHash } from 'node:crypto';
import type { Bound, Exploration } from '../../states/explorer.ts';
import { approving, beginning, ending, type Files, gateLine, isApproved, recordOf, VERIFIER_LINES } from './model.ts';
import { type Event, INTENTS, type IntentName, type Move, type Slot, TIMES, World } from './world.ts';

const NAMES: readonly IntentName[] = ['a', 'A', 'a2', 'b'];
const SLOTS: readonly Slot[] = [0, 1];

const BEGUN: readonly Move[] = [
  { do: 'approve', intent: 'a', slot: 0 },
  { do: 'begin', intent: 'a', slot: 0 },
  { do: 'succeed', slot: 0 },
];

/** Steps of an approval in the empty queue: two for the lock, then the file is opened, examined, read, written and synced. */
const WRITE = 6;
const OPEN_DIRECTORY = 8;

/**
 * The empty queue; an intent that is approved, runs, and is executed; an intent with two plans; an approval of which the last byte is
 * missing; and an approval whose file has no lasting name.
 */
const BEGINNINGS: readonly (readonly Move[])[] = [
  ...[0, 1, 2, 3].map((moves) => BEGUN.slice(0, moves)),
  [{ do: 'approve', intent: 'a', slot: 0 }, { do: 'forge' }],
  [{ do: 'approve', intent: 'b', slot: 0, fault: { step: WRITE, kind: 'nearly' } }, { do: 'unlock' }],
  [{ do: 'approve', intent: 'b', slot: 0, fault: { step: OPEN_DIRECTORY, kind: 'fail' } }],
];

/** `moves`: most of them after a beginning; `faults`: most of them on the way. */
export async function explore({ moves = 0, faults = 0 }: Bound): Promise<Exploration> {
  const exploration = new Explorer(faults);
  for (const path of BEGINNINGS) await exploration.visit(path);
  for (let level = 0; level < moves && exploration.wrong === null; level++) await exploration.advance();
  return exploration;
}

class Explorer implements Exploration {
  states = 0;
  transitions = 0;
  wrong: string | null = null;
  readonly #faults: number;
  readonly #seen = new Set<string>();
  /** Hashes of the disks about which the gate was asked. */
  readonly #asked = new Set<string>();
  #frontier: (readonly Move[])[] = [];

  constructor(faults: number) {
    this.#faults = faults;
  }

  /** Makes every move that is possible in the states of the frontier. The new states are the next frontier. */
  async advance(): Promise<void> {
    const frontier = this.#frontier;
    this.#frontier = [];
    for (const path of frontier)
      for (const event of eventsIn(await reach(path))) {
        const { steps, world } = await this.visit([...path, event]);
        const faults = faultsIn(path) < this.#faults ? faultsOf(event, steps, world) : [];
        for (const fault of faults) await this.visit([...path, { ...event, fault }]);
        if (this.wrong !== null) return;
      }
  }

  /** Makes the last move of a path, judges it, and notes the state to which it leads. */
  async visit(path: readonly Move[]): Promise<{ readonly steps: readonly string[]; readonly world: World }> {
    const world = await reach(path.slice(0, -1));
    const last = path.at(-1);
    const { wrong, steps } = last === undefined ? { wrong: [], steps: [] } : await take(world, last);
    if (last !== undefined) this.transitions += 1;
    if (isNew(this.#asked, world.disk.state())) wrong.push(...questions(world));
    if (wrong[0] !== undefined) this.wrong ??= [wrong[0], ...path.map((move) => `  ${JSON.stringify(move)}`)].join('\n');
    if (isNew(this.#seen, `${world.state()} ${faultsIn(path)}`)) {
      this.states += 1;
      this.#frontier.push(path);
    }
    return { steps, world };
  }
}

function isNew(seen: Set<string>, text: string): boolean {
  const key = createHash('sha256').update(text).digest('base64');
  const { size } = seen;
  return seen.add(key).size > size;
}

const faultsIn = (path: readonly Move[]): number => path.filter(({ fault }) => fault !== undefined).length;

async function reach(path: readonly Move[]): Promise<World> {
  const world = new World();
  for (const move of path) await world.apply(move);
  return world;
}

function eventsIn(world: World): readonly Event[] {
  const events: Event[] = (['a', 'a2', 'b'] as const).map((intent) => ({ do: 'approve', intent, slot: 0 }));
  for (const slot of SLOTS)
    if (world.slots[slot] !== null) for (const what of ['succeed', 'throw', 'kill'] as const) events.push({ do: what, slot });
    else if (slot === 0 || world.slots[0] !== null)
      for (const intent of ['a', 'A', 'b'] as const) events.push({ do: 'begin', intent, slot });
  events.push({ do: 'power' }, { do: 'settle' }, { do: 'repair' });
  const { approvedLock, executedLock } = world.files();
  if (approvedLock !== undefined || executedLock !== undefined) events.push({ do: 'unlock' });
  if (world.now !== TIMES[1]) events.push({ do: 'tick' });
  return events;
}

const CHANGES: readonly string[] = ['create', 'write', 'sync', 'remove'];

/** Every way in which an event can go wrong: each of its steps may be the last, fail, or be the moment of another process. */
function faultsOf(event: Event, steps: readonly string[], after: World): NonNullable<Move['fault']>[] {
  const slot = after.slots[1] === null ? 1 : 0;
  const others: Event[] = event.do === 'approve' ? [{ do: 'approve', intent: 'a2', slot: 0 }] : [];
  if (event.do === 'approve' || ((event.do === 'begin' || event.do === 'succeed') && event.slot !== slot))
    others.push({ do: 'begin', intent: 'a', slot });
  return steps.flatMap((name, index) => {
    const deaths = name === 'write' ? (['die', 'half', 'nearly'] as const) : CHANGES.includes(name) ? (['die'] as const) : [];
    return [...deaths, 'fail' as const, ...others].map((kind) => ({ step: index + 1, kind }));
  });
}

/** Makes a move and holds the world to the model. */
async function take(world: World, move: Move): Promise<{ readonly wrong: string[]; readonly steps: readonly string[] }> {
  const before = world.files();
  const expected = expectedOf(world, move, before);
  const { answer, steps } = await world.apply(move);
  const after = world.files();
  const wrong = [...world.wrongs, ...changesOf(move, before, expected.files, after)];
  if (answer !== expected.answer && answer !== 'dead' && !answer.startsWith('ERR_GATE_'))
    wrong.push(`ARGO-7-1: ${move.do} answers ${answer}`);
  if (move.fault === undefined && answer !== expected.answer)
    wrong.push(`ARGO-R4: ${move.do} answers ${answer}, and the model ${expected.answer}`);
  for (const [line, name] of world.told)
    if (world.disk.text(name)?.includes(line) !== true)
      wrong.push(`ARGO-6-9: a line that somebody was told of is not in ${name}`);
  return { wrong, steps };
}

interface Expected {
  readonly answer: string;
  readonly files: Files;
}

/** What an event does when nothing goes wrong. */
function expectedOf(world: World, event: Event, files: Files): Expected {
  const time = world.now;
  if (event.do === 'approve') {
    const intent = INTENTS[event.intent];
    const answer = approving(files, intent);
    return {
      answer,
      files: answer === 'approved' ? { ...files, approved: (files.approved ?? '') + recordOf(intent, time) } : files,
    };
  }
  if (event.do === 'begin') {
    const intent = INTENTS[event.intent];
    const answer = beginning(files, intent);
    return {
      answer,
      files: answer === 'runs' ? { ...files, attempts: (files.attempts ?? '') + recordOf(intent, time, 'started') } : files,
    };
  }
  if (event.do !== 'succeed' && event.do !== 'throw') return { answer: 'done', files };
  const intent = world.slots[event.slot]?.intent ?? INTENTS.a;
  const ok = event.do === 'succeed';
  const holds = world.holds(event.slot);
  const answer = ending(files, intent, ok, holds);
  const recorded = ok && ending({ ...files, attempts: undefined }, intent, ok, holds) === 'executed';
  const executed = recorded ? (files.executed ?? '') + recordOf(intent, time) : files.executed;
  const attempts =
    answer === 'executed' || answer === 'failed' ? (files.attempts ?? '') + recordOf(intent, time, answer) : files.attempts;
  return { answer, files: { ...files, executed, attempts } };
}

const HUMAN: readonly Event['do'][] = ['power', 'settle', 'repair', 'unlock', 'forge'];

/** What is wrong with how the files changed. A fault may leave a part of what should have been appended, and nothing else. */
function changesOf(move: Move, before: Files, expected: Files, after: Files): string[] {
  if (HUMAN.includes(move.do)) return [];
  const raced = typeof move.fault?.kind === 'object';
  return (['approved', 'executed', 'attempts'] as const).flatMap((name) => {
    const [was = '', wanted = '', is = ''] = [before[name], expected[name], after[name]];
    if (!is.startsWith(was)) return [`ARGO-5-3: ${name} is rewritten`];
    if (raced || wanted.startsWith(is))
      return move.fault === undefined && is !== wanted ? [`ARGO-5-8: ${name} lacks a line`] : [];
    return [`ARGO-5-8: ${name} has another line than the model's`];
  });
}

/** Asks the gate and the verifier about every intent. They agree with the model and leave no trace. */
function questions(world: World): string[] {
  const wrong: string[] = [];
  const files = world.files();
  const { changes } = world.disk;
  for (const name of NAMES) {
    const intent = INTENTS[name];
    const line = world.ask(intent);
    if (line !== gateLine(files, intent))
      wrong.push(`ARGO-6-1: of ${name} the gate says ${line}, and the model ${gateLine(files, intent)}`);
    if (world.approves(intent) !== isApproved(files, intent))
      wrong.push(`ARGO-6-2: the verifier and the model differ on ${name}`);
  }
  for (const [verifier, wanted] of Object.entries(VERIFIER_LINES)) {
    const line = world.ask(INTENTS.a, verifier);
    if (line !== wanted) wrong.push(`ARGO-3-3c: of a verifier that ${verifier} the gate says ${line}`);
  }
  if (world.disk.changes !== changes) wrong.push('ARGO-R5: a question changes the queue');
  return wrong;
}
