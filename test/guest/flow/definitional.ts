import type { Answer, Program } from '../../../conformance/language/generate/programs.ts';
import { Random } from '../../../conformance/language/generate/random.ts';
import type { CallLabels } from '../../../conformance/language/interpreter/labels.ts';
import { run } from '../../../conformance/language/interpreter/run.ts';
import type { CallEnd } from '../../../src/engine/realm.ts';
import { labelNames } from '../../../src/wire/labels.ts';
import type { GuestCall, TaggedJson } from '../../../src/wire/protocol.ts';
import { jsonText } from '../../../src/wire/tagged.ts';
import { LIMITS, treeOf } from '../../differential/both.ts';
import { runInGuest, type Tree } from '../../differential/guest.ts';
import { ANSWERS, hash } from './interference.ts';

/*
 * The product and the second interpreter, whose labels were written from `docs/origin.md`, run a program with the same sources. Each argument
 * of each call, the decision to make it, and what is said, must carry the same labels. With handlers of errors the product may find that more
 * depends on whether something failed; never less.
 */

const names = (...labels: readonly string[]): { readonly adds: readonly string[]; readonly drops: readonly string[] } => ({
  adds: labels,
  drops: [],
});
/** What the answers of tools bring, and take away. */
const TOOLS: Readonly<Record<string, ReturnType<typeof names>>> = {
  'tool.a.get': names('web'),
  'tool.set.any': names('crm'),
  'tool.none.at': { adds: [], drops: ['web'] },
  'tool.web.echo': names('web'),
  'tool.web.fail': names('web'),
  'tool.crm.read': names('crm'),
};
const SINK = 'tool.b.send';
const FLOW = {
  program: [],
  globals: [
    { name: 'g', path: [], labels: ['own'] },
    { name: 'userdata', path: ['fields', 'note'], labels: ['web'] },
  ],
  events: [['event'], []],
};

/** What carries labels: an argument, an entry of it, the decision to make a call, what was said. */
type Points = ReadonlyMap<string, readonly string[]>;

/** What one of the two found, and the code of the error that ended the run, if one did. */
interface Followed {
  readonly points: Points;
  readonly failed: string | undefined;
}

export interface Comparison {
  /** Where they disagree first; null for nowhere. */
  readonly what: string | null;
  /** Points with labels, and those at which the product has more. */
  readonly labelled: number;
  readonly more: number;
}

/** The program without its handlers of errors. */
export function withoutHandlers(program: Program): Program {
  let depth = 0;
  const lines = program.source.split('\n').filter((line) => {
    const isHandler = depth > 0 || line.trim() === 'on error do';
    if (isHandler) depth += Number(/^\s*on .* do$/.test(line)) - Number(line.trim() === 'endon');
    return !isHandler && line.trim() !== 'clear_error';
  });
  return { ...program, source: lines.join('\n') };
}

/** Compares the two on a program; null when it does not parse, or asks an agent, which the second cannot. */
export function compared(program: Program, seed: number): Comparison | null {
  const tree = treeOf(program);
  if (tree === null || program.source.includes('\nask ')) return null;
  const refused: boolean[] = [];
  const refuse = (labels: readonly string[]): boolean => {
    refused.push(labels.includes('web'));
    return labels.includes('web');
  };
  const { points: got, failed: ended } = inProduct(tree, program, new World(program, seed, refuse));
  const { points: wanted, failed } = bySecond(tree, program, new World(program, seed, () => refused.shift() === true));
  const handles = program.source.includes('on error');
  let [labelled, more] = [0, 0];
  for (const at of new Set([...got.keys(), ...wanted.keys()])) {
    const isSaid = at === 'output' || at === 'scratchpad';
    const [one, other] = [got, wanted].map((points) => points.get(at) ?? (at.includes('entry') ? [] : undefined));
    // A limit is not covered, and the two reach one at different places. Of an error that ends the run, the product may say that more led to it.
    const isLimited = failed === 'ERR_QUOTA' || ended === 'ERR_QUOTA';
    if (isLimited && (isSaid || one === undefined || other === undefined)) continue;
    labelled += Number(one !== undefined && one.length > 0);
    if (one !== undefined && other !== undefined && String(one) === String(other)) continue;
    more += 1;
    const covers = one !== undefined && other?.every((label) => one.includes(label));
    if (!(covers && (handles || (isSaid && failed !== undefined))))
      return { what: `${at}: the product has ${one}, the second ${other}`, labelled, more };
  }
  return { what: null, labelled, more };
}

function inProduct(tree: Tree, program: Program, world: World): Followed {
  const answer = (call: GuestCall): CallEnd => {
    if (call.t !== 'tool') return { t: 'ok', value: null };
    const { args: carried = [], deciding = [] } = call.labels ?? {};
    const args = call.args.map((_, index) => {
      const { all = [], entries = {} } = carried[index] ?? {};
      return {
        all: labelNames(all),
        entries: Object.fromEntries(Object.entries(entries).map(([key, each]) => [key, labelNames(each)])),
      };
    });
    const { labels, ...end } = world.answer(call.name, call.args.map(jsonText), { args, deciding: labelNames(deciding) });
    const given: CallEnd = 'code' in end ? { t: 'error', ...end } : { t: 'ok', value: end.value as TaggedJson };
    return labels === undefined ? given : { ...given, labels };
  };
  const { labels, error } = runInGuest(tree, program, LIMITS, { flow: FLOW, answer }).result;
  return { points: world.said(labelNames(labels?.output ?? []), labelNames(labels?.scratchpad ?? [])), failed: error?.code };
}

function bySecond({ file }: Tree, { globals, constants, stdin, events, call }: Program, world: World): Followed {
  const { labels, error, eventErrors } = run({
    files: [file],
    limits: LIMITS,
    globals,
    constants,
    stdin,
    events,
    call: call === null ? null : { name: call, args: [] },
    tools: (name, args, carried) => world.answer(name, args, carried),
    origin: FLOW,
  });
  return { points: world.said(labels.output, labels.scratchpad), failed: error?.code ?? eventErrors[0]?.error.code };
}

/** Tools that answer both in the same way, and note what each call carries. */
class World {
  readonly #points = new Map<string, readonly string[]>();
  readonly #answers: readonly Answer[];
  readonly #seed: number;
  readonly #isRefused: (labels: readonly string[]) => boolean;
  #calls = 0;

  constructor({ answers }: Program, seed: number, isRefused: (labels: readonly string[]) => boolean) {
    this.#answers = [...answers, ...ANSWERS];
    this.#seed = seed;
    this.#isRefused = isRefused;
  }

  answer(
    called: string,
    args: readonly string[],
    { args: carried, deciding }: CallLabels,
  ): Answer & { readonly labels?: (typeof TOOLS)[string] } {
    const name = called.toLowerCase();
    const at = `call ${this.#calls++} of ${name}/${args.length}`;
    for (const [index, { all, entries = {} }] of carried.entries()) {
      this.#points.set(`${at} argument ${index}`, all);
      for (const [key, labels] of Object.entries(entries)) this.#points.set(`${at} entry ${index}.${key}`, labels);
    }
    this.#points.set(`${at} deciding`, deciding);
    if (name === SINK && this.#isRefused([...carried.flatMap(({ all }) => all), ...deciding]))
      return { code: 1003, message: 'refused by policy' };
    const [only = 'null'] = args;
    const end = name.endsWith('.echo') ? { value: JSON.parse(only) } : new Random(hash(`${this.#seed}${at}`)).pick(this.#answers);
    const labels = TOOLS[name];
    return labels === undefined ? end : { ...end, labels };
  }

  said(output: readonly string[], scratchpad: readonly string[]): Points {
    return this.#points.set('output', output).set('scratchpad', scratchpad);
  }
}
