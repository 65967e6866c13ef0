import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { plainMaps } from '../../src/wire/tagged.ts';
import { drive } from './driver.ts';
import { TEST_TOOLS } from './tools.ts';

/**
 * Value semantics (P25) against a model that copies everything at every step. A program is a list of small statements
 * over four variables; at its end the model's variables and the interpreter's must look the same.
 */
type Json = null | number | string | Json[] | Map<string, Json>;
type Step = number | string;

interface Statement {
  readonly text: string;
  apply(variables: Map<string, Json>): void;
}

const NAMES = ['a', 'b', 'c', 'd'] as const;
const copy = (value: Json): Json => structuredClone(value);

const name = fc.constantFrom(...NAMES);
const path = fc.array(fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('k', 'm')), { minLength: 1, maxLength: 3 });
const scalar = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant('s'), fc.constant(null));

/** Source text and value of an expression; `read` expressions may fail, then the statement does nothing. */
interface Expression {
  readonly text: string;
  eval(variables: Map<string, Json>): Json;
}

class Failed extends Error {}

const expression: fc.Arbitrary<Expression> = fc.letrec<{ any: Expression }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    scalar.map((value) => ({ text: value === null ? 'nil' : JSON.stringify(value), eval: () => value })),
    name.map((of) => ({ text: of, eval: (variables: Map<string, Json>) => copy(variables.get(of) ?? null) })),
    fc.tuple(name, path).map(([of, steps]) => ({
      text: of + brackets(steps),
      eval: (variables: Map<string, Json>) => copy(steps.reduce<Json>(readStep, variables.get(of) ?? null)),
    })),
    fc.array(tie('any'), { maxLength: 3 }).map((items) => ({
      text: `[${items.map((item) => item.text).join(', ')}]`,
      eval: (variables: Map<string, Json>) => items.map((item) => item.eval(variables)),
    })),
    tie('any').map((item) => ({
      text: `{"k": ${item.text}, "z": 1}`,
      eval: (variables: Map<string, Json>) =>
        new Map<string, Json>([
          ['k', item.eval(variables)],
          ['z', 1],
        ]),
    })),
    fc.tuple(tie('any'), tie('any')).map(([left, right]) => ({
      text: `([${left.text}] + [${right.text}])`,
      eval: (variables: Map<string, Json>) => [left.eval(variables), right.eval(variables)],
    })),
    name.map((of) => ({
      text: `([] + ${of})`,
      eval: (variables: Map<string, Json>) => {
        const value = copy(variables.get(of) ?? null);
        if (typeof value === 'string') return `[]${value}`;
        if (!Array.isArray(value)) throw new Failed();
        return value;
      },
    })),
    tie('any').map((item) => ({ text: `same(${item.text})`, eval: (variables: Map<string, Json>) => item.eval(variables) })),
    tie('any').map((item) => ({ text: `spoil(${item.text})`, eval: (variables: Map<string, Json>) => item.eval(variables) })),
    tie('any').map((item) => ({
      text: `tool.t.give(${item.text})`,
      eval: (variables: Map<string, Json>) => item.eval(variables),
    })),
    tie('any').map((item) => ({ text: `eval(${item.text})`, eval: (variables: Map<string, Json>) => item.eval(variables) })),
  ),
})).any;

function brackets(steps: readonly Step[]): string {
  return steps.map((step) => `[${JSON.stringify(step)}]`).join('');
}

function readStep(value: Json, step: Step): Json {
  if (Array.isArray(value)) {
    if (typeof step === 'string') throw new Failed();
    const item = value[step];
    if (item === undefined) throw new Failed();
    return item;
  }
  if (typeof value === 'string') {
    if (typeof step === 'string') throw new Failed();
    const unit = value[step];
    if (unit === undefined) throw new Failed();
    return unit;
  }
  if (!(value instanceof Map)) throw new Failed();
  return value.get(String(step)) ?? null;
}

/** language.md 5.3, written down a second time. */
function write(base: Json, steps: readonly Step[], value: Json): Json {
  const [step, ...rest] = steps;
  if (step === undefined) return value;
  const container = base !== null && typeof base === 'object' ? base : typeof step === 'number' ? [] : new Map<string, Json>();
  if (Array.isArray(container)) {
    if (typeof step === 'string') throw new Failed();
    const child = write(isContainer(container[step]) ? (container[step] ?? null) : null, rest, value);
    while (container.length < step) container.push(null);
    container[step] = child;
    return container;
  }
  const child = container.get(String(step));
  container.set(String(step), write(isContainer(child) ? (child ?? null) : null, rest, value));
  return container;
}

function tagged(value: Json): TaggedJson {
  if (Array.isArray(value)) return value.map(tagged);
  return value instanceof Map ? Object.fromEntries([...value].map(([key, item]) => [key, tagged(item)])) : value;
}

function isContainer(value: Json | undefined): boolean {
  return value !== null && typeof value === 'object';
}

const statement: fc.Arbitrary<Statement> = fc.oneof(
  fc.tuple(name, expression).map(([to, from]) => ({
    text: `set ${to} = ${from.text}`,
    apply: (variables: Map<string, Json>) => void variables.set(to, from.eval(variables)),
  })),
  fc.tuple(name, path, expression).map(([to, steps, from]) => ({
    text: `set ${to}${brackets(steps)} = ${from.text}`,
    apply: (variables: Map<string, Json>) => {
      const value = from.eval(variables);
      const base = variables.get(to) ?? null;
      if (base !== null && typeof base !== 'object') throw new Failed();
      variables.set(to, write(copy(base), steps, value));
    },
  })),
  fc.tuple(name, name, expression, expression).map(([first, second, left, right]) => ({
    text: `set ${first}, ${second} = [${left.text}, ${right.text}]`,
    apply: (variables: Map<string, Json>) => {
      const [one, two] = [left.eval(variables), right.eval(variables)];
      variables.set(first, one);
      variables.set(second, two);
    },
  })),
  fc.tuple(name, name, path).map(([over, to, steps]) => ({
    text: `for each item in ${over}\nset ${to}${brackets(steps)} = item\nendfor`,
    apply: (variables: Map<string, Json>) => {
      const value = copy(variables.get(over) ?? null);
      if (typeof value === 'number') throw new Failed();
      const items: Json[] = value === null ? [] : typeof value === 'string' ? [...value] : [...value.values()];
      for (const item of items) {
        const base = variables.get(to) ?? null;
        // The handler stands in the procedure: a failing pass is skipped, the loop goes on.
        if (base !== null && typeof base !== 'object') continue;
        try {
          variables.set(to, write(copy(base), steps, copy(item)));
        } catch (error) {
          if (!(error instanceof Failed)) throw error;
        }
      }
    },
  })),
);

const spread: fc.Arbitrary<Statement> = fc.tuple(name, name, name).map(([first, second, from]) => ({
  text: `set ${first}, ${second} = ${from}`,
  apply: (variables: Map<string, Json>) => {
    const value = copy(variables.get(from) ?? null);
    if (!Array.isArray(value) || value.length !== 2) throw new Failed();
    variables.set(first, value[0] ?? null);
    variables.set(second, value[1] ?? null);
  },
}));

const spoilingLoop: fc.Arbitrary<Statement> = fc.tuple(name, path).map(([over, steps]) => ({
  text: `for each item in ${over}\nset item${brackets(steps)} = 'spoiled'\nendfor`,
  apply: (variables: Map<string, Json>) => {
    if (typeof variables.get(over) === 'number') throw new Failed();
  },
}));

const LIBRARY = `func same(needs v) means
  return v
endfunc
func spoil(needs v) means
  on error do
    clear_error
  endon
  set kept = v
  set v.k = 'spoiled'
  set v[0] = 'spoiled'
  set v[1].k = 'spoiled'
  return kept
endfunc
`;

describe('P25: values are never aliased', () => {
  it('agrees with a model that copies everything', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 5, arbitrary: statement }, spread, spoilingLoop), { minLength: 1, maxLength: 25 }),
        fc.boolean(),
        (program, nested) => {
          const variables = new Map<string, Json>();
          for (const { apply } of program) {
            try {
              apply(variables);
            } catch (error) {
              if (!(error instanceof Failed)) throw error;
            }
          }
          const wanted = NAMES.map((variable) => variables.get(variable) ?? null);
          // What a procedure may end with hides some mistakes at its top level.
          const lines = program.map(({ text }) => text).join('\n');
          const body = nested ? `if true\n${lines}\nendif` : lines;
          const source = `${LIBRARY}func main() means\non error do\nclear_error\nendon\n${body}\nreturn [a, b, c, d]\nendfunc\n`;
          const driven = drive(source, { call: 'main', tools: TEST_TOOLS });
          expect(driven.error).toBeNull();
          expect(plainMaps(driven.result)).toEqual(tagged(wanted));
        },
      ),
      { numRuns: 1500 },
    );
  }, 60_000);

  const emitted = (body: string, library = ''): readonly string[] =>
    drive(`${library}func main() means\nif true\n${body}\nendif\nendfunc\n`, { call: 'main', tools: TEST_TOOLS }).emits;

  it('what a procedure ends with is not changed by a later nested write', () => {
    const library = 'func f() means\nset x = [1]\nif true\nset x[0] = 2\nendif\nendfunc\n';
    expect(emitted('emit f()', library)).toEqual(['[1]']);
  });

  it("what a procedure ends with, part of its argument, is not the caller's", () => {
    const library = "func f(needs p) means\nmust p['items']\nendfunc\n";
    expect(emitted("set m = {'items': [1]}\nset q = f(m)\nset q[0] = 9\nemit m", library)).toEqual(['{"items": [1]}']);
  });

  it("what a procedure returns, part of its argument, is not the caller's", () => {
    const library = "func f(needs p) means\nreturn p['items']\nendfunc\n";
    expect(emitted("set m = {'items': [1]}\nset q = f(m)\nset q[0] = 9\nemit m", library)).toEqual(['{"items": [1]}']);
  });

  it('what last was is not changed by a write in the same statement', () => {
    expect(emitted('set x = [1]\nset x[0], x[last[0]] = [5, 7]\nemit x')).toEqual(['[5, 7]']);
  });

  it('joined lists share no item with their parts', () => {
    expect(emitted('set a = [[1]]\nset b = [[2]]\nset c = a + b\nset c[0][0] = 9\nset c[1][0] = 8\nemit [a, b]')).toEqual([
      '[[[1]], [[2]]]',
    ]);
  });

  it('a loop variable shares nothing with the list', () => {
    expect(emitted('set l = [[1], [2]]\nfor each x in l\nset x[0] = 7\nendfor\nemit l')).toEqual(['[[1], [2]]']);
  });

  it('variables set at once share nothing with the list', () => {
    expect(emitted('set l = [[1], [2]]\nset a, b = l\nset a[0] = 7\nemit l')).toEqual(['[[1], [2]]']);
  });

  it('a list put into itself is a copy', () => {
    expect(emitted('set l = [1]\nset l[1] = l\nset l[1][0] = 2\nset l[2] = l\nemit l')).toEqual(['[1, [2], [1, [2]]]']);
  });

  it('a loop sees the items there were when it started', () => {
    expect(emitted('set l = [[1], [2]]\nfor each x in l\nset l[1][0] = 9\nset x[0] = 7\nemit x\nendfor\nemit l')).toEqual([
      '[7]',
      '[7]',
      '[[1], [9]]',
    ]);
  });

  it('a global container is the same in every fork', () => {
    const source = 'func f() means\nset h = g\nset h.k = 2\nreturn h\nendfunc\nfunc main() means\nemit f()\nemit g\nendfunc\n';
    expect(drive(source, { call: 'main', globals: { g: { k: 1 } } }).emits).toEqual(['{"k": 2}', '{"k": 1}']);
  });

  it('a variable that a tool reads and writes is a copy', () => {
    const body =
      "set l = [1]\nset t = tool.t.getvar('l')\nset t.value[0] = 2\ncall tool.t.setvar('m', [3])\nset n = m\nset n[0] = 4\nemit [l, m, n]";
    expect(emitted(body)).toEqual(['[[1], [3], [4]]']);
  });

  it('writing ten thousand items costs the same for each', () => {
    const fuel = (count: number): number =>
      drive(`command\nset l = []\nset i = 0\nwhile i < ${count}\nset l[i] = i\nset i = i + 1\nendwhile\nendcommand\n`).fuel;
    expect(fuel(20_000) / fuel(10_000)).toBeCloseTo(2, 1);
  });
});
