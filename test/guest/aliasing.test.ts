import { describe, expect, it } from 'vitest';
import { Random } from '../fuzz/random.ts';
import { drive } from './driver.ts';

/**
 * Value semantics without copies (P25), against a model that copies everything at every step: the same random writes, and
 * after each of them all variables must look the same.
 */
type Plain = number | Plain[] | { [key: string]: Plain };
type Variables = { [name: string]: Plain };

const NAMES = ['a', 'b', 'c', 'd'] as const;

interface Path {
  readonly name: string;
  readonly steps: readonly (number | string)[];
}

/** Random statements as text, and what they do to the model. */
class Writer {
  readonly #random: Random;
  readonly #variables: Variables;
  /** Makes every written number different. */
  #next = 100;

  constructor(random: Random, variables: Variables) {
    this.#random = random;
    this.#variables = variables;
  }

  statement(): string {
    const random = this.#random;
    const target = this.#path();
    switch (random.int(7)) {
      case 0:
        return this.#write(target, this.#next++, String(this.#next - 1));
      case 1:
      case 2: {
        const source = this.#path();
        return this.#write(target, read(this.#variables, source), written(source));
      }
      case 3: {
        const [first, second] = [this.#path(), this.#path()];
        const value = [read(this.#variables, first), { k: read(this.#variables, second) }];
        return this.#write(target, value, `[${written(first)}, {'k': ${written(second)}}]`);
      }
      case 4: {
        const source = this.#path();
        return this.#write(target, read(this.#variables, source), `same(${written(source)})`);
      }
      case 5: {
        const source = this.#path();
        // The procedure writes into its own copy and gives the original back.
        return this.#write(target, read(this.#variables, source), `spoil(${written(source)})`);
      }
      default: {
        const list = this.#path();
        const value = read(this.#variables, list);
        if (!Array.isArray(value)) return this.#write(target, this.#next++, String(this.#next - 1));
        return this.#write(target, [...value, ...value], `${written(list)} + ${written(list)}`);
      }
    }
  }

  #write({ name, steps }: Path, value: Plain, text: string): string {
    // By way of text, which no shared part survives.
    const copied: Plain = JSON.parse(JSON.stringify(value));
    if (JSON.stringify(this.#variables).length + JSON.stringify(copied).length > 4_000) return `set ${this.#reset()}\n`;
    const last = steps.at(-1);
    if (last === undefined) this.#variables[name] = copied;
    else {
      const container = read(this.#variables, { name, steps: steps.slice(0, -1) });
      if (Array.isArray(container)) container[Number(last)] = copied;
      else if (typeof container === 'object') container[String(last)] = copied;
    }
    return `set ${written({ name, steps })} = ${text}\n`;
  }

  #reset(): string {
    const name = this.#random.pick(NAMES);
    this.#variables[name] = [1, { k: [2] }];
    return `${name} = [1, {'k': [2]}]`;
  }

  /** A place that exists: some way down into a variable. */
  #path(): Path {
    const name = this.#random.pick(NAMES);
    const steps: (number | string)[] = [];
    let value = this.#variables[name] ?? 0;
    while (typeof value === 'object' && !this.#random.once(3)) {
      const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
      if (keys.length === 0) break;
      const key = this.#random.pick<number | string>(keys);
      steps.push(key);
      value = (Array.isArray(value) ? value[Number(key)] : value[key]) ?? 0;
    }
    return { name, steps };
  }
}

/** The very object in the model, for the writer; a caller that keeps it clones it. */
function read(variables: Variables, { name, steps }: Path): Plain {
  let value = variables[name] ?? 0;
  for (const step of steps)
    if (typeof value === 'object') value = (Array.isArray(value) ? value[Number(step)] : value[step]) ?? 0;
  return value;
}

function written({ name, steps }: Path): string {
  return name + steps.map((step) => (typeof step === 'number' ? `[${step}]` : `['${step}']`)).join('');
}

const LIBRARY = `func same(needs x) means
  set y = [x]
  return y[0]
endfunc
func spoil(needs x) means
  set kept = x
  if is_list(x) and len(x) > 0
    set x[0] = 'spoilt'
  endif
  if is_map(x)
    set x.k = 'spoilt'
  endif
  for each item in [x, kept]
    set item = 'spoilt'
  endfor
  return kept
endfunc
`;

describe('P25: no alias can ever be seen', () => {
  it.each(Array.from({ length: 12 }, (_, index) => index))('random writes, round %i', (round) => {
    const random = new Random(round);
    const start: Variables = { a: [1, [2, 3], { k: [4] }], b: { k: { k: 5 }, j: [6] }, c: [], d: 7 };
    const variables = structuredClone(start);
    const writer = new Writer(random, variables);
    const lines = NAMES.map((name) => `set ${name} = ${literal(start[name] ?? 0)}\n`);
    const expected: string[] = [];
    for (let count = 0; count < 150; count++) {
      lines.push(writer.statement(), 'emit {"a": a, "b": b, "c": c, "d": d}\n');
      expected.push(JSON.stringify(variables));
    }
    const { values, error } = drive(`${LIBRARY}func main() means\n${lines.join('')}endfunc\n`, {
      call: 'main',
      limits: { outputBytes: 50_000_000, fuel: 1e9, memoryBytes: 500_000_000 },
    });
    expect(error).toBeNull();
    for (const [index, value] of values.entries())
      expect(sorted(value), lines.slice(4, 6 + 2 * index).join('')).toBe(sorted(JSON.parse(expected[index] ?? '')));
    expect(values).toHaveLength(expected.length);
  });
});

function literal(value: Plain): string {
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([key, item]) => `'${key}': ${literal(item)}`)
    .join(', ')}}`;
}

/** JSON with sorted keys: the order of keys is proved elsewhere. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
