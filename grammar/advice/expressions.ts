/** Advice on expressions in the form of other languages: slices, comprehensions, methods, ranges, lambdas, types. */
import type { IToken, TokenType } from 'chevrotain';
import { BuiltIn, Identifier, keyword, Newline, NumberLiteral, punct, StringLiteral, TemplateOpen } from '../syntax/tokens.ts';
import { type Advice, aValue, endOfLine, type Mismatch, statementStart, touches } from './mismatch.ts';

/** Advice on an expression, or on what follows one. */
export function adviseOnExpression(mismatch: Mismatch): Advice | undefined {
  return (
    operatorPair(mismatch) ??
    inBrackets(mismatch) ??
    method(mismatch) ??
    statementAsValue(mismatch) ??
    procedureAsValue(mismatch) ??
    foreignWord(mismatch) ??
    target(mismatch) ??
    comma(mismatch)
  );
}

interface OperatorPair {
  readonly left: TokenType;
  readonly right: TokenType;
  readonly advice: Advice;
}

const pairs: readonly OperatorPair[] = [
  {
    left: punct.dot,
    right: punct.dot,
    advice: {
      message: 'NeuroScript has no ranges',
      hint: 'count in a loop: `set i = 1`, `while i <= 3`, …, `set i = i + 1`, `endwhile`',
    },
  },
  { left: punct.plus, right: punct.plus, advice: { message: '`++` is not an operator', hint: 'write `set x = x + 1`' } },
  {
    left: punct.slash,
    right: punct.star,
    advice: { message: 'NeuroScript has no block comments', hint: 'begin every line of the comment with `#`' },
  },
  {
    left: punct.minus,
    right: punct.greater,
    advice: { message: '`->` is not an operator', hint: 'to read an element, write `x.key`' },
  },
  {
    left: punct.less,
    right: punct.less,
    advice: { message: '`<<` is not an operator', hint: "write text of several lines as '''…'''" },
  },
  { left: punct.greater, right: punct.greater, advice: { message: '`>>` is not an operator', hint: 'write `x / 2 ** n`' } },
];

/** Two tokens that are one operator in other languages. The offending token is either of them. */
function operatorPair({ peek, expected, first }: Mismatch): Advice | undefined {
  for (const ahead of [0, 1]) {
    const [left, right] = [peek(ahead), peek(ahead + 1)];
    if (!touches(left, right)) continue;
    const found = pairs.find((pair) => pair.left === left.tokenType && pair.right === right.tokenType);
    if (found === undefined) continue;
    const inAsk = found.left === punct.minus && first.tokenType === keyword.ask;
    return inAsk ? { ...found.advice, hint: 'write `ask model, prompt into x`' } : found.advice;
  }
  const plus = expected === aValue && peek(1).tokenType === punct.plus;
  return plus ? { message: 'a number has no sign `+`', hint: 'leave it out' } : undefined;
}

const noSlices: Advice = {
  message: 'NeuroScript has no slices',
  hint: 'take the items you need in `for each i, item in x`, or call a tool that cuts lists or text',
};

/** A slice, a comprehension, or values without commas. */
function inBrackets(mismatch: Mismatch): Advice | undefined {
  if (statementStart(mismatch) === keyword.func) return undefined;
  const { peek, expected } = mismatch;
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  const type = found.tokenType;
  const [paren, bracket, brace] = [punct.closeParen.LABEL, punct.closeBracket.LABEL, punct.closeBrace.LABEL];
  if (type === punct.colon && expected === bracket) return noSlices;
  if (type === punct.colon && expected === aValue && before.tokenType === punct.openBracket) return noSlices;
  if (type === keyword.for && (expected === bracket || expected === brace || expected === paren)) {
    return {
      message: 'NeuroScript has no comprehensions',
      hint: 'fill a list in a loop: `set out = []`, `for each x in list`, `set out[len(out)] = …`, `endfor`',
    };
  }
  if (type === punct.colon && expected === paren)
    return { message: 'arguments have no names', hint: 'give them in the order of the parameters: `f(a, b)`' };
  if (!beginsValue(found)) return undefined;
  if (expected === bracket) return { hint: 'separate items by commas: `[1, 2, 3]`' };
  if (expected === paren) return { hint: 'separate arguments by commas: `f(a, b)`; write an operator between two values' };
  if (expected === brace && next.tokenType === punct.colon) return { hint: "separate entries by commas: {'a': 1, 'b': 2}" };
  return undefined;
}

const lengths: ReadonlySet<string> = new Set('len length size count'.split(' '));
const appending: ReadonlySet<string> = new Set('append push add insert extend'.split(' '));
const iterating: ReadonlySet<string> = new Set('keys values items entries'.split(' '));

/** `x.method(…)`. */
function method({ peek }: Mismatch): Advice | undefined {
  const [name, found] = [peek(0), peek(1)];
  if (found.tokenType !== punct.openParen || peek(-1).tokenType !== punct.dot) return undefined;
  const message = 'values have no methods';
  const word = name.image.toLowerCase();
  if (lengths.has(word)) return { message, hint: 'write `len(x)`' };
  if (appending.has(word)) return { message, hint: 'to append an item, write `set x[len(x)] = item`' };
  if (iterating.has(word)) return { message, hint: 'write `for each key, value in m` … `endfor`' };
  return { message, hint: 'use a built-in function such as `len(x)`, or a tool: `tool.group.Name(x)`' };
}

const statementsAsValues: ReadonlyMap<TokenType, Advice> = new Map([
  [keyword.call, { message: '`call` is a statement, not a value', hint: 'leave `call` out within an expression: `set x = f()`' }],
  [
    keyword.error,
    {
      message: '`error` is a keyword, not a variable',
      hint: 'an `on error` block finds the error in `system_error`: write `system_error.message`',
    },
  ],
  [
    keyword.event,
    {
      message: '`event` is a keyword, not a variable',
      hint: 'give the event a name: `on event "x" as e do`, then read `e.payload[0].Payload`',
    },
  ],
  [keyword.ask, { message: '`ask` is a statement, not a value', hint: 'write `ask model, prompt into x`' }],
  [keyword.promptuser, { message: '`promptuser` is a statement, not a value', hint: "write `promptuser 'question' into x`" }],
]);

/** A statement where a value belongs: `set x = call f()`. */
function statementAsValue({ peek, expected }: Mismatch): Advice | undefined {
  return expected === aValue ? statementsAsValues.get(peek(1).tokenType) : undefined;
}

const noFunctionValues: Advice = {
  message: 'a procedure is not a value',
  hint: 'go over items in `for each x in list` … `endfor`; a library can define `func name(needs x) means` … `endfunc`',
};

/** A lambda, an arrow function, or `func` within an expression. */
function procedureAsValue({ peek }: Mismatch): Advice | undefined {
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  if (found.tokenType === keyword.func && before.tokenType !== Newline && before.tokenType.name !== 'EOF')
    return noFunctionValues;
  if (before.image === 'lambda' && before.tokenType === Identifier) return noFunctionValues;
  const arrow = found.tokenType === punct.assign && next.tokenType === punct.greater && touches(found, next);
  return arrow ? { ...noFunctionValues, message: '`=>` is not an operator: a procedure is not a value' } : undefined;
}

const foreignWords: ReadonlyMap<string, Advice> = new Map([
  ['new', { message: '`new` is not an operator', hint: 'an empty map is `{}`, an empty list is `[]`' }],
  ['await', { message: 'NeuroScript has no `await`', hint: 'calls run one after the other: write `set x = f()`' }],
  ['Not', { message: '`Not` is not an operator', hint: 'write `not`' }],
  ['NOT', { message: '`NOT` is not an operator', hint: 'write `not`' }],
  ['typeOf', { message: '`typeOf` is not an operator', hint: 'write `typeof x`' }],
]);

/** A word of another language before a value, or `as`, `is not` or `not in` after one. */
function foreignWord({ peek, expected }: Mismatch): Advice | undefined {
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  const precedesValue = before.tokenType === Identifier && (beginsValue(found) || found.tokenType === punct.openBrace);
  const advice = precedesValue ? foreignWords.get(before.image) : undefined;
  if (advice !== undefined) return advice;
  if (found.image === 'is' && next.tokenType === keyword.not)
    return { message: '`is not` is not an operator', hint: 'write `!=`' };
  if (found.tokenType === keyword.not && next.tokenType === keyword.in)
    return { message: '`not in` is not an operator', hint: 'test membership with `for each`, a map, or a tool' };
  if (expected === endOfLine && found.tokenType === keyword.as)
    return {
      message: 'NeuroScript has no casts',
      hint: "write `x + 0` to make a number of text, `'' + x` to make text of a number",
    };
  return undefined;
}

/** Invalid targets of `set` and invalid operands of `call`. */
function target({ peek, expected }: Mismatch): Advice | undefined {
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  const type = found.tokenType;
  if (before.tokenType === keyword.set && (type === punct.openParen || type === punct.openBracket || type === punct.openBrace))
    return { message: 'the targets of `set` have no brackets', hint: 'write `set a, b = [1, 2]`' };
  if (before.tokenType === keyword.set && type === StringLiteral)
    return { message: 'the name of a variable has no quotes', hint: 'write `set x = value`' };
  if (expected === punct.assign.LABEL && next.tokenType !== punct.assign && (type === punct.colon || type === keyword.as))
    return { message: 'variables have no types', hint: 'write `set x = value`' };
  const assigned = type === punct.assign && before.tokenType === Identifier && peek(-1).tokenType === keyword.call;
  return assigned ? { message: '`call` discards the result', hint: `write \`set ${before.image} = f(…)\`` } : undefined;
}

const singleValued: ReadonlyMap<TokenType, Advice> = new Map([
  [
    keyword.set,
    { message: '`set` takes one value', hint: 'write a `set` for each variable; `set a, b = [1, 2]` takes a list apart' },
  ],
  [keyword.fail, { message: '`fail` takes one value', hint: "write `fail 'message'`" }],
  [
    keyword.must,
    { message: '`must` takes one condition', hint: "for your own message, write `if not (…)`, `fail 'message'`, `endif`" },
  ],
]);

/** A comma after the one value of a statement. */
function comma(mismatch: Mismatch): Advice | undefined {
  const found = mismatch.expected === endOfLine && mismatch.peek(1).tokenType === punct.comma;
  return found ? singleValued.get(statementStart(mismatch)) : undefined;
}

/** Two values with nothing or `.` between them. This advice is general, so it comes last. */
export function sideBySide(mismatch: Mismatch): Advice | undefined {
  const { peek, expected } = mismatch;
  const [before, found] = [peek(0), peek(1)];
  if (before.tokenType === punct.dot && (found.tokenType === StringLiteral || found.tokenType === TemplateOpen))
    return { message: '`.` does not join text', hint: 'join text with `+`' };
  if (expected === aValue && found.tokenType === punct.at)
    return { message: '`@` has no meaning here', hint: 'write the bare name of the variable' };
  if (expected !== endOfLine || (before.tokenType === Identifier && touches(before, found)) || !beginsValue(found))
    return undefined;
  const statement = statementStart(mismatch);
  if (statement === keyword.break || statement === keyword.continue) return { hint: 'write the keyword alone on its line' };
  return { hint: 'something is missing between two values: join text with `+`, and write a call with parentheses: `f(x)`' };
}

function beginsValue({ tokenType: type }: IToken): boolean {
  return valueStarts.has(type) || (type.CATEGORIES?.includes(BuiltIn) ?? false);
}

const valueStarts: ReadonlySet<TokenType> = new Set([
  ...[Identifier, NumberLiteral, StringLiteral, TemplateOpen],
  ...[keyword.true, keyword.false, keyword.nil, keyword.tool],
]);
