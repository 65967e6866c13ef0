import type { Answer, Program } from '../../../conformance/language/generate/programs.ts';
import { Random } from '../../../conformance/language/generate/random.ts';
import type { CallEnd } from '../../../src/engine/realm.ts';
import { labelNames } from '../../../src/wire/labels.ts';
import type { GuestCall, TaggedJson } from '../../../src/wire/protocol.ts';
import { LIMITS, treeOf } from '../../differential/both.ts';
import { runInGuest, type Tree } from '../../differential/guest.ts';
import { STATEMENTS } from './suite.ts';

/*
 * Non-interference: what a labelled source says decides nothing of what reaches a sink that refuses its label. A program runs twice, and
 * only the source answers something else. The sink refuses what carries the label, and what the label decided.
 */

const SOURCE = 'tool.a.get';
const SINK = 'tool.b.send';
const LABEL = 'web';

/** What an observer behind the sink sees of a run: calls that got through, and output that does not carry the label. */
export interface Observed {
  readonly sunk: readonly string[];
  readonly refused: number;
  /** Null when the output carries the label. */
  readonly output: readonly string[] | null;
  readonly scratchpad: readonly string[] | null;
  /** Whether a handler of an event failed: what followed in it is left out, and later ones ran. */
  readonly skipped: boolean;
  /** Whether the program ran to its end. */
  readonly ended: boolean;
}

/** Procedures for the flows that need one. */
const HELPERS =
  'func ha(needs a) means\nif a\nreturn 1\nendif\nreturn 2\nendfunc\nfunc hb(needs a, b) means\nreturn b + a\nendfunc\nfunc hc(needs a) means\ncall tool.b.Send(a)\nreturn a\nendfunc\nfunc hd(needs a) means\nemit a\nwhisper self, a\nreturn a\nendfunc\n';
const CALLS = [
  'set x = ha(§(1))',
  'set x = hb(1, §(2))',
  'set x = hc(§(3))',
  'if §(4)\nset x = hc(1)\nendif',
  'set y = §(5) and hc(7)\nset x = 1',
  'set y = §(6) or hd(7)\nset x = 1',
  'set x = 1\nset n = 0\nwhile hd(n) < §(7)\nset n = n + 1\nif n > 3\nbreak\nendif\nendwhile',
  'set x = 1\nfor each c in §(8)\ncall hd(1)\nendfor',
];
/** Flows that generated programs seldom have. */
const SELDOM = [
  "set x = '' + [1, §(1)]",
  'set x = 1\nif [1, §(2)] == [1, 0]\nset x = 2\nendif',
  "set x = {'k' + §(3): 1}",
  'set x = 0\nset n = §(4)\nwhile n\nset x = x + 1\nset n = false\nendwhile',
  'set x = 1\nif §(5)\nfail\nendif\non error do\nset x = 2\nclear_error\nendon',
  'set x = 1\nfor each c in [2, 3]\nif §(6)\nbreak\nendif\nset x = c\nendfor',
  'set x = 1\nemit §(7)',
  'set x = 1\nif §(8)\nset x = 2\nendif\nif true\ncall tool.b.Send(x)\non error do\nclear_error\nendon\nendif\nset x = 3',
];

/** A program whose variables come from the source, most of whose calls reach the sink, and which has a few flows of the suite. */
export function exposed(program: Program, seed: number): Program {
  const random = new Random(seed);
  const given = [
    'set a = tool.a.Get(1)\n',
    "set m = {'k': tool.a.Get(2), 'j': 1}\n",
    'set l = [1, tool.a.Get(3), 2]\n',
    'set s = tool.a.Get(4)\n',
    'set b = 1\nif tool.a.Get(5)\nset b = 2\nendif\n',
  ].filter(() => random.once(3));
  const isLibrary = program.call !== null;
  const own = isLibrary ? [...SELDOM, ...CALLS] : SELDOM;
  const some = random.several(1, 3, () => {
    const flow = random.once(2) ? random.pick(own) : random.pick(STATEMENTS)[1];
    return `if true\n${flow.replaceAll('§(', 'tool.a.Get(')}\ncall tool.b.Send(x)\nendif\n`;
  });
  const source = program.source
    .replaceAll('tool.a.Put', 'tool.b.Send')
    .replaceAll('tool.set.Any', random.once(2) ? 'tool.a.Get' : 'tool.b.Send')
    .replace(/^(func main\(\) means|command)$/m, `$1\n${some.join('')}${given.join('')}`)
    .replace(/^(func f1\(.*\) means)$/gm, `$1\n${given.join('')}`);
  return { ...program, source: `${isLibrary ? HELPERS : ''}${source}` };
}

/** Two runs of a program, and what tells them apart for the observer; null when nothing does. */
export function interference(program: Program, seed: number): { readonly first: Observed; readonly leak: string | null } | null {
  const tree = treeOf(program);
  if (tree === null) return null;
  const first = observed(tree, program, seed, 1);
  const second = observed(tree, program, seed, 2);
  return { first, leak: leakBetween(first, second) };
}

function leakBetween(first: Observed, second: Observed): string | null {
  if (first.skipped || second.skipped) return null;
  const both = first.ended && second.ended;
  const pairs = [
    ['calls of the sink', first.sunk, second.sunk],
    ['output', first.output, second.output],
    ['scratchpad', first.scratchpad, second.scratchpad],
  ] as const;
  for (const [what, one, other] of pairs) {
    // A label that depends on what the source says would tell it.
    if (both && (one === null) !== (other === null)) return `${what}: its label depends on the source`;
    if (one === null || other === null) continue;
    const length = Math.min(one.length, other.length);
    const same = one.slice(0, length).every((each, index) => each === other[index]);
    if (!same || (both && one.length !== other.length)) return `${what}: ${JSON.stringify(one)} and ${JSON.stringify(other)}`;
  }
  return null;
}

function observed(tree: Tree, program: Program, seed: number, run: number): Observed {
  const sunk: string[] = [];
  let refused = 0;
  let secrets = 0;
  const answer = (call: GuestCall): CallEnd => {
    if (call.t !== 'tool') return { t: 'ok', value: null };
    const name = call.name.toLowerCase();
    const args = JSON.stringify(call.args);
    if (name === SINK) {
      const { args: given = [], deciding = [] } = call.labels ?? {};
      if (labelNames([...given.flatMap(({ all }) => all), ...deciding]).includes(LABEL)) {
        refused += 1;
        return { t: 'error', code: 1003, message: 'refused by policy' };
      }
      sunk.push(args);
    }
    // Only the source answers something else in another run. The others answer what they are asked.
    const random = new Random(name === SOURCE ? seed * 7919 + run * 104_729 + secrets++ : hash(`${seed}${name}${args}`));
    const end = endOf(random.pick(program.answers.length > 0 ? [...program.answers, ...ANSWERS] : ANSWERS));
    return name === SOURCE ? { ...end, labels: { adds: [LABEL], drops: [] } } : end;
  };
  const seen = runInGuest(tree, program, LIMITS, { flow: { program: [], globals: [], events: [] }, answer });
  const { labels, error, eventErrors } = seen.result;
  const carries = (part: 'output' | 'scratchpad'): boolean => labelNames(labels?.[part] ?? []).includes(LABEL);
  const output = [...seen.emits, ...seen.values.map((value) => JSON.stringify(value)), JSON.stringify(seen.result.result)];
  return {
    sunk,
    refused,
    output: carries('output') ? null : output.slice(0, error === null ? undefined : seen.emits.length),
    scratchpad: carries('scratchpad') ? null : seen.whispers.map(({ to, text }) => `${to}: ${text}`),
    skipped: eventErrors.length > 0,
    ended: error === null,
  };
}

/** Answers that take the branches of most programs. */
export const ANSWERS: readonly Answer[] = [
  ...([0, 1, 2, 3, '', 'a', 'k', '7', true, false, null] as const).map((value) => ({ value })),
  { value: [] },
  { value: [1, 2] },
  { value: { k: 1 } },
  { value: { k: 'v', j: [2] } },
  { code: 9, message: 'no such thing' },
];

export function endOf(answer: Answer): CallEnd {
  return 'code' in answer ? { t: 'error', ...answer } : { t: 'ok', value: answer.value as TaggedJson };
}

export function hash(text: string): number {
  let sum = 0;
  for (let index = 0; index < text.length; index++) sum = (Math.imul(sum, 31) + text.charCodeAt(index)) | 0;
  return sum;
}
