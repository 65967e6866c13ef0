/** What Chevrotain's analysis finds in the grammar, as data: the build works it out once, so that no process has to. */
import { EOF, type TokenType } from 'chevrotain';
import { tokenTypes } from './tokens.ts';

/**
 * A place in a rule where the next token decides, by Chevrotain's numbers of both, and the outcomes: `true` enters an option or another round of
 * a repetition, a number is an alternative. The tokens that lead to an outcome are given by their places in {@link everyToken}; any other
 * token leads to none.
 */
export type Decision = readonly [rule: number, place: number, outcomes: readonly DecisionOutcome[]];
type DecisionOutcome = readonly [outcome: true | number, tokens: readonly number[]];

/** A parser, as its decisions see it. */
interface Ahead {
  /** The token so many places ahead. */
  LA(places: number): { readonly tokenTypeIdx: number };
}

/** Every token that a parser can meet. */
const everyToken: readonly TokenType[] = [...tokenTypes, EOF];

/** The name under which Chevrotain keeps the functions that decide, by rule and place. */
const FUNCTIONS = 'lookAheadFuncsCache';

/** The decisions of an analysed parser, found by asking each of its functions about each token. */
export function decisionsOf(parser: object): readonly Decision[] {
  return numbered(Reflect.get(parser, FUNCTIONS)).flatMap(([rule, places]) =>
    numbered(places).map(([place, decide]): Decision => {
      if (typeof decide !== 'function') throw new TypeError('Chevrotain keeps something else for a decision');
      const outcomes = new Map<true | number, number[]>();
      for (const [token, { tokenTypeIdx }] of everyToken.entries()) {
        const LA = () => ({ tokenTypeIdx });
        const outcome: unknown = Reflect.apply(decide, { LA, LA_FAST: LA }, []);
        if (outcome !== true && typeof outcome !== 'number') continue;
        outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), token]);
      }
      return [rule, place, [...outcomes]];
    }),
  );
}

/** Makes a parser decide as one that was analysed. */
export function adoptDecisions(parser: object, decisions: readonly Decision[]): void {
  const functions: ((this: Ahead) => true | number | undefined)[][] = [];
  for (const [rule, place, outcomes] of decisions) {
    const outcomeOf: (true | number | undefined)[] = [];
    for (const [outcome, tokens] of outcomes)
      for (const token of tokens) outcomeOf[everyToken[token]?.tokenTypeIdx ?? 0] = outcome;
    const places = functions[rule] ?? [];
    functions[rule] = places;
    places[place] = function (this: Ahead) {
      return outcomeOf[this.LA(1).tokenTypeIdx];
    };
  }
  Object.assign(parser, { [FUNCTIONS]: functions, selfAnalysisDone: true });
}

/** The elements of a list with holes, with their numbers. */
function numbered(list: unknown): [number, unknown][] {
  if (!Array.isArray(list)) throw new TypeError('Chevrotain keeps its decisions elsewhere');
  return Object.entries<unknown>(list).map(([index, element]) => [Number(index), element]);
}
