/** Numbers that a seed repeats. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(most: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * most);
  }

  pick<T>(from: readonly [T, ...T[]]): T {
    return from[this.below(from.length)] ?? from[0];
  }
}

const NAMES: readonly [string, ...string[]] = ['tool.web.Get', 'tool.db.Write', 'tool.pay.Quote', 'tool.pay.Transfer'];
const VALUES: readonly [string, ...string[]] = [
  '1',
  '99',
  '101',
  '"http:x"',
  '"all"',
  '"EUR"',
  'g',
  'x',
  'nil',
  'g * 60',
  '"http" + x',
  '[1, x]',
];

/** A program of calls in branches, loops, procedures, handlers and blocks of calls that run together. */
export function programOf(dice: Dice): { readonly lib: string; readonly source: string } {
  const call = (): string =>
    `tool.${dice.pick(NAMES).slice(5)}(${[dice.pick(VALUES), dice.pick(VALUES)].slice(dice.below(3)).join(', ')})`;
  const handler = (): string[] => (dice.below(6) === 0 ? ['on error do', 'clear_error', 'endon'] : []);
  const block = (depth: number): string[] => [
    ...handler(),
    ...Array.from({ length: 1 + dice.below(3) }, () => statement(depth)).flat(),
  ];
  const statement = (depth: number): string[] => {
    switch (dice.below(depth > 2 ? 2 : 8)) {
      case 0:
        return [`set x = ${call()}`];
      case 1:
        return [`call ${call()}`];
      case 2:
        return [
          `if ${dice.pick(['g == 1', 'g == 0', 'true', 'x == 1'])}`,
          ...block(depth + 1),
          'else',
          ...block(depth + 1),
          'endif',
        ];
      case 3:
        return [`for each y in ${dice.pick(['[1, 2]', '[]', '[g]', '"ab"'])}`, ...block(depth + 1), 'endfor'];
      case 4:
        return ['together', `call ${call()}`, `call ${call()}`, 'endtogether'];
      case 5:
        return [depth > 1 ? `call ${call()}` : 'call p(x)'];
      case 6:
        return [`set x = ${dice.pick(VALUES)}`];
      default:
        return [`call ${call()}`];
    }
  };
  return {
    lib: ['func p(needs x) means', ...block(2), 'endfunc'].join('\n'),
    source: ['command', 'set x = 1', ...block(0), 'if true', ...block(0), 'endif', 'endcommand'].join('\n'),
  };
}
