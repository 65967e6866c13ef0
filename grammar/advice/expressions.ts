/** Expressions in the form that other languages give them: slices, comprehensions, methods, ranges, lambdas, types. */
import type { IToken, TokenType } from 'chevrotain';
import { endOf } from '../syntax/build.ts';
import { BuiltIn, Identifier, keyword, Newline, NumberLiteral, punct, StringLiteral, TemplateOpen } from '../syntax/tokens.ts';
import type { Advice, Mismatch } from './mismatch.ts';

const aValue = 'a value';
const endOfLine = Newline.LABEL ?? '';

/** Advice on an expression, or on what stands behind one. */
export function habit(mismatch: Mismatch): Advice | undefined {
  return (
    pair(mismatch) ??
    inBrackets(mismatch) ??
    method(mismatch) ??
    statementAsValue(mismatch) ??
    procedureAsValue(mismatch) ??
    afterWord(mismatch) ??
    target(mismatch) ??
    comma(mismatch)
  );
}

/** Whether two tokens stand side by side and so were meant as one. */
function touches(left: IToken, right: IToken): boolean {
  return endOf(left) === right.startOffset;
}

interface Pair {
  readonly left: TokenType;
  readonly right: TokenType;
  readonly advice: Advice;
}

const pairs: readonly Pair[] = [
  {
    left: punct.dot,
    right: punct.dot,
    advice: {
      message: 'there are no ranges',
      hint: 'count in a loop: `set i = 1`, `while i <= 3`, …, `set i = i + 1`, `endwhile`',
    },
  },
  { left: punct.plus, right: punct.plus, advice: { message: '`++` is no operator', hint: 'write `set x = x + 1`' } },
  {
    left: punct.slash,
    right: punct.star,
    advice: { message: 'there are no block comments', hint: 'begin every line of the comment with `#`' },
  },
  { left: punct.minus, right: punct.greater, advice: { message: '`->` is no operator', hint: 'an element is read as `x.key`' } },
  {
    left: punct.less,
    right: punct.less,
    advice: { message: '`<<` is no operator', hint: "text of several lines is written '''…'''" },
  },
  { left: punct.greater, right: punct.greater, advice: { message: '`>>` is no operator', hint: 'write `x / 2 ** n`' } },
];

/** Two characters that are one operator elsewhere; the second is where the text goes wrong, or the first. */
function pair({ peek, expected, first }: Mismatch): Advice | undefined {
  for (const ahead of [0, 1]) {
    const [left, right] = [peek(ahead), peek(ahead + 1)];
    if (!touches(left, right)) continue;
    const found = pairs.find((entry) => entry.left === left.tokenType && entry.right === right.tokenType);
    if (found === undefined) continue;
    if (found.left === punct.minus && first.tokenType === keyword.ask)
      return { ...found.advice, hint: 'write `ask model, prompt into x`' };
    return found.advice;
  }
  const found = peek(1);
  if (expected === aValue && found.tokenType === punct.plus) return { message: 'a number has no sign `+`', hint: 'leave it out' };
  return undefined;
}

const noSlices: Advice = {
  message: 'there are no slices',
  hint: 'walk it with `for each i, item in x` and take what you need, or call a tool that cuts lists or texts',
};

/** A slice, a comprehension, values without commas. */
function inBrackets({ peek, expected, first }: Mismatch): Advice | undefined {
  if (statementOf(peek, first) === keyword.func) return undefined;
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  const type = found.tokenType;
  if (type === punct.colon && expected === punct.closeBracket.LABEL) return noSlices;
  if (type === punct.colon && expected === aValue && before.tokenType === punct.openBracket) return noSlices;
  if (
    type === keyword.for &&
    (expected === punct.closeBracket.LABEL || expected === punct.closeBrace.LABEL || expected === punct.closeParen.LABEL)
  ) {
    return {
      message: 'there are no comprehensions',
      hint: 'fill a list in a loop: `set out = []`, `for each x in list`, `set out[len(out)] = …`, `endfor`',
    };
  }
  if (type === punct.colon && expected === punct.closeParen.LABEL)
    return { message: 'arguments have no names', hint: 'give them in the order of the parameters: `f(a, b)`' };
  if (!beginsValue(found)) return undefined;
  if (expected === punct.closeBracket.LABEL) return { hint: 'items are separated by commas: `[1, 2, 3]`' };
  if (expected === punct.closeParen.LABEL)
    return { hint: 'arguments are separated by commas: `f(a, b)`; operators stand between values' };
  if (expected === punct.closeBrace.LABEL && next.tokenType === punct.colon)
    return { hint: "entries are separated by commas: {'a': 1, 'b': 2}" };
  return undefined;
}

const lengths: ReadonlySet<string> = new Set('len length size count'.split(' '));
const growing: ReadonlySet<string> = new Set('append push add insert extend'.split(' '));

/** `x.method(…)`. */
function method({ peek }: Mismatch): Advice | undefined {
  const [name, found] = [peek(0), peek(1)];
  if (found.tokenType !== punct.openParen || peek(-1).tokenType !== punct.dot) return undefined;
  const message = 'values have no methods';
  const word = name.image.toLowerCase();
  if (lengths.has(word)) return { message, hint: 'write `len(x)`' };
  if (growing.has(word)) return { message, hint: 'to append an item write `set x[len(x)] = item`' };
  if (word === 'keys' || word === 'values' || word === 'items' || word === 'entries')
    return { message, hint: 'write `for each key, value in m` … `endfor`' };
  return { message, hint: 'use a built-in function such as `len(x)`, or a tool: `tool.group.Name(x)`' };
}

/** A statement where a value belongs: `set x = call f()`. */
function statementAsValue({ peek, expected }: Mismatch): Advice | undefined {
  if (expected !== aValue) return undefined;
  switch (peek(1).tokenType) {
    case keyword.call:
      return { message: '`call` is a statement', hint: 'a call within an expression has no `call`: `set x = f()`' };
    case keyword.error:
      return {
        message: '`error` is a keyword',
        hint: 'in an `on error` block the error is `system_error`: `system_error.message`',
      };
    case keyword.event:
      return { message: '`event` is a keyword', hint: 'name the event: `on event "x" as e do`, and read `e.payload[0].Payload`' };
    case keyword.ask:
      return { message: '`ask` is a statement', hint: 'write `ask model, prompt into x`' };
    case keyword.promptuser:
      return { message: '`promptuser` is a statement', hint: "write `promptuser 'question' into x`" };
    default:
      return undefined;
  }
}

const noFunctions: Advice = {
  message: 'procedures are no values',
  hint: 'define `func name(needs x) means` … `endfunc` in a library and call it by its name',
};

/** A lambda, an arrow, a `func` within an expression. */
function procedureAsValue({ peek }: Mismatch): Advice | undefined {
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  if (found.tokenType === keyword.func && before.tokenType !== Newline && before.tokenType.name !== 'EOF') return noFunctions;
  if (before.image === 'lambda' && before.tokenType === Identifier) return noFunctions;
  const arrow = found.tokenType === punct.assign && next.tokenType === punct.greater && touches(found, next);
  return arrow ? { ...noFunctions, message: '`=>` is no operator: procedures are no values' } : undefined;
}

const words: ReadonlyMap<string, Advice> = new Map([
  ['new', { message: '`new` creates nothing', hint: 'an empty map is `{}`, an empty list `[]`' }],
  ['await', { message: 'there is no `await`', hint: 'calls run one after the other: `set x = f()`' }],
  ['Not', { message: '`Not` is no operator', hint: 'write `not`' }],
  ['NOT', { message: '`NOT` is no operator', hint: 'write `not`' }],
  ['typeOf', { message: '`typeOf` is no operator', hint: 'write `typeof x`' }],
]);

/** A word of another language in front of a value, and `as` and `is not` behind one. */
function afterWord({ peek, expected }: Mismatch): Advice | undefined {
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  const advice =
    before.tokenType === Identifier && (beginsValue(found) || found.tokenType === punct.openBrace)
      ? words.get(before.image)
      : undefined;
  if (advice !== undefined) return advice;
  if (found.image === 'is' && next.tokenType === keyword.not) return { message: '`is not` is no operator', hint: 'write `!=`' };
  if (found.tokenType === keyword.not && next.tokenType === keyword.in)
    return { message: '`not in` is no operator', hint: 'test membership with `for each`, a map, or a tool' };
  if (expected === endOfLine && found.tokenType === keyword.as)
    return { message: 'there are no casts', hint: "a text becomes a number by `x + 0`, a number a text by `'' + x`" };
  return undefined;
}

/** What `set` cannot set. */
function target({ peek, expected }: Mismatch): Advice | undefined {
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  const type = found.tokenType;
  if (before.tokenType === keyword.set && (type === punct.openParen || type === punct.openBracket || type === punct.openBrace))
    return { message: 'the targets of `set` have no brackets', hint: 'write `set a, b = [1, 2]`' };
  if (before.tokenType === keyword.set && type === StringLiteral)
    return { message: 'the name of a variable has no quotes', hint: 'write `set x = value`' };
  if (expected === punct.assign.LABEL && next.tokenType !== punct.assign && (type === punct.colon || type === keyword.as))
    return { message: 'variables have no types', hint: 'write `set x = value`' };
  const assigned = type === punct.assign && peek(-1).tokenType === keyword.call;
  return assigned && before.tokenType === Identifier
    ? { message: '`call` keeps no result', hint: `write \`set ${before.image} = f(…)\`` }
    : undefined;
}

const single: ReadonlyMap<TokenType, Advice> = new Map([
  [keyword.set, { message: 'one `set` has one value', hint: 'write a `set` for each; `set a, b = [1, 2]` takes a list apart' }],
  [keyword.fail, { message: '`fail` takes one value', hint: "write `fail 'message'`" }],
  [
    keyword.must,
    { message: '`must` takes one condition', hint: "for a message of your own write `if not (…)`, `fail 'message'`, `endif`" },
  ],
]);

/** A comma behind the one value of a statement. */
function comma({ peek, expected, first }: Mismatch): Advice | undefined {
  return expected === endOfLine && peek(1).tokenType === punct.comma ? single.get(statementOf(peek, first)) : undefined;
}

/** The keyword of the statement: the part that was being read may have begun behind it. */
function statementOf(peek: Mismatch['peek'], first: IToken): TokenType {
  for (let back = 0; back > -60; back--) {
    const before = peek(back - 1);
    if (before.tokenType === Newline || before.tokenType.name === 'EOF') return peek(back).tokenType;
  }
  return first.tokenType;
}

/** Two values with nothing between them, when nothing more particular can be said; `"a" . "b"`. */
export function sideBySide({ peek, expected, first }: Mismatch): Advice | undefined {
  const [before, found] = [peek(0), peek(1)];
  if (before.tokenType === punct.dot && (found.tokenType === StringLiteral || found.tokenType === TemplateOpen))
    return { message: '`.` joins nothing', hint: 'join texts with `+`' };
  if (expected === aValue && found.tokenType === punct.at)
    return { message: '`@` means nothing here', hint: 'a variable is written by its bare name' };
  if (expected !== endOfLine || (before.tokenType === Identifier && touches(before, found))) return undefined;
  if (!beginsValue(found)) return undefined;
  const statement = statementOf(peek, first);
  if (statement === keyword.break || statement === keyword.continue) return { hint: 'it stands alone on its line' };
  return { hint: 'something is missing between two values: texts are joined with `+`, and a call has parentheses: `f(x)`' };
}

function beginsValue({ tokenType: type }: IToken): boolean {
  return (
    type === Identifier ||
    type === NumberLiteral ||
    type === StringLiteral ||
    type === TemplateOpen ||
    type === keyword.true ||
    type === keyword.false ||
    type === keyword.nil ||
    type === keyword.tool ||
    (type.CATEGORIES?.includes(BuiltIn) ?? false)
  );
}
