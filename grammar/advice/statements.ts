/** Advice on lines that begin as a statement and then go wrong. */
import type { IToken, TokenType } from 'chevrotain';
import {
  BinaryOperator,
  BuiltIn,
  blockEnds,
  closers,
  Identifier,
  keyword,
  keywords,
  lineStarters,
  Newline,
  NumberLiteral,
  PrefixOperator,
  punct,
  StringLiteral,
} from '../syntax/tokens.ts';
import { adviseOnExpression, sideBySide } from './expressions.ts';
import { type Advice, aName, aValue, endOfLine, expectedFound, lineBefore, type Mismatch, touches } from './mismatch.ts';

/** The first advice that fits, from the most specific to the most general. */
export function adviseOnStatement(mismatch: Mismatch): Advice | undefined {
  return (
    called(mismatch) ??
    doubleBracket(mismatch) ??
    adviseOnExpression(mismatch) ??
    reserved(mismatch) ??
    number(mismatch) ??
    assignment(mismatch) ??
    blockHead(mismatch) ??
    (mismatch.expected === endOfLine ? surplus(mismatch) : undefined) ??
    sideBySide(mismatch) ??
    missing(mismatch)
  );
}

const brackets: ReadonlySet<TokenType> = new Set([punct.openBracket, punct.closeBracket]);

/** `[[text]]` without the header that makes it a string. */
function doubleBracket(mismatch: Mismatch): Advice | undefined {
  const before = lineBefore(mismatch);
  const nearest = before.find(({ tokenType: type, startOffset: at }, index) => {
    const left = before[index + 1];
    return brackets.has(type) && left?.tokenType === type && left.startOffset + 1 === at;
  });
  if (nearest?.tokenType !== punct.openBracket) return undefined;
  return {
    hint: '`[[` opens a list within a list: put text in quotes, or write `:: strings: double-bracket` at the head of the file',
  };
}

const clauses: ReadonlySet<TokenType> = new Set([keyword.needs, keyword.optional, keyword.returns]);
const noCommas = 'write no comma between clauses: `func f(needs a, b optional c returns r) means`';

const keywordsAsValues: ReadonlyMap<TokenType, Advice> = new Map([
  [keyword.mustbe, { message: '`mustbe` is a reserved word without a meaning', hint: 'write `must` and a condition' }],
  [
    keyword.must,
    {
      message: '`must` is a statement, not a value',
      hint: 'write `set x = …`, and `must` with a condition on the next line',
    },
  ],
  [keyword.timedate, { message: '`timedate` is not a value', hint: 'a tool gives the time: `tool.time.Now()`' }],
  [keyword.fuzzy, { message: '`fuzzy` is a reserved word, not a value' }],
]);

/** A keyword where a name or a value belongs. */
function reserved({ expected, peek }: Mismatch): Advice | undefined {
  const { tokenType: type, image } = peek(1);
  if (expected === aName && clauses.has(type) && peek(0).tokenType === punct.comma) return { hint: noCommas };
  const asName = expected === aName || expected.startsWith('the name of');
  if (asName && keywords.has(image))
    return { message: `\`${image}\` is a reserved word`, hint: `choose another name, such as \`${image}_\`` };
  if (expected !== aValue || type.CATEGORIES?.includes(BuiltIn)) return undefined;
  return keywordsAsValues.get(type) ?? (lineStarters.has(type) ? { hint: 'the value is missing' } : undefined);
}

/** A number in the form of another language. */
function number({ peek, expected }: Mismatch): Advice | undefined {
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  if (expected === aValue && found.tokenType === punct.dot && next.tokenType === NumberLiteral) {
    return { message: 'a number begins with a digit', hint: `write 0.${next.image}` };
  }
  if (before.tokenType === punct.dot && peek(-1).tokenType === NumberLiteral && expected === aName) {
    return { message: 'a number ends with a digit', hint: `write ${peek(-1).image}.0` };
  }
  if (before.tokenType === punct.dot && found.tokenType === NumberLiteral) return { hint: `write an index as [${found.image}]` };
  if (before.tokenType === punct.power && found.tokenType.CATEGORIES?.includes(PrefixOperator)) {
    return {
      message: `the right side of \`**\` cannot begin with \`${found.image}\``,
      hint: `put it in parentheses: \`2 ** (${found.image}1)\``,
    };
  }
  return undefined;
}

/** An `=` where none belongs. */
function assignment({ peek, first, expected }: Mismatch): Advice | undefined {
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  if (expected === punct.assign.LABEL) {
    if (found.tokenType === punct.colon && next.tokenType === punct.assign)
      return { message: '`:=` is not an operator', hint: 'write `set x = …`' };
    if (next.tokenType === punct.assign && found.tokenType.CATEGORIES?.includes(BinaryOperator)) {
      return { message: `\`${found.image}=\` is not an operator`, hint: `write \`set x = x ${found.image} …\`` };
    }
    if (found.tokenType === punct.equal) return { message: '`==` compares two values', hint: 'write `set x = …`' };
    if (found.tokenType === Newline) return { hint: 'write `set x = …`' };
  }
  if (found.tokenType !== punct.assign) return undefined;
  if (before.tokenType === punct.greater || before.tokenType === punct.less) {
    return { message: `\`${before.image} =\` is not an operator`, hint: `write \`${before.image}=\`` };
  }
  if (expected === punct.colon.LABEL) return { message: '`=` cannot stand in a map', hint: "write {'key': value}" };
  const message = '`=` cannot stand in an expression';
  if (expected === punct.closeParen.LABEL) return { message, hint: 'compare with `==`; arguments have no names' };
  return { message, hint: first.tokenType === keyword.set ? 'compare with `==`' : 'compare with `==`; assign with `set x = …`' };
}

const counting = 'to count, write `set i = 0`, `while i < n`, …, `set i = i + 1`, `endwhile`';

/** The head of a block in the form of another language. */
function blockHead(mismatch: Mismatch): Advice | undefined {
  const { peek, expected } = mismatch;
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  const type = found.tokenType;
  if (expected === keyword.each.LABEL) {
    return { message: expectedFound(mismatch), hint: `write \`for each item in list\`; ${counting}` };
  }
  if (expected === keyword.in.LABEL && (found.image === 'from' || type === punct.assign)) return { hint: counting };
  if (expected === keyword.in.LABEL) return { hint: 'write `for each item in list` or `for each key, value in map`' };
  if (expected === keyword.do.LABEL) {
    if (type === keyword.named) return { message: '`named` comes before `as`', hint: "write `on event e named 'n' as x do`" };
    if (type === keyword.as && before.tokenType === keyword.error) {
      return { message: '`on error` binds no variable', hint: 'write `on error do` and read `system_error`' };
    }
    return { hint: 'write `on error do` or `on event … do`' };
  }
  const inSignature =
    expected === keyword.means.LABEL ||
    (expected === punct.closeParen.LABEL && lineBefore(mismatch).some((one) => one.tokenType === keyword.func));
  if (inSignature && (type === Identifier || before.tokenType === punct.openParen)) {
    return {
      message: expectedFound(mismatch),
      hint: 'a clause word precedes the parameters: `func f(needs a, b optional c returns r) means`',
    };
  }
  if (inSignature && type === punct.comma) return { message: expectedFound(mismatch), hint: noCommas };
  if (expected === keyword.means.LABEL) return { hint: 'write `func name(needs a, b) means`' };
  if (expected !== endOfLine || !inBlockHead(mismatch)) return undefined;
  if (type === keyword.do || found.image === 'then' || found.image === 'begin') {
    return { message: `\`${found.image}\` cannot stand here`, hint: 'the head of a block ends with its line' };
  }
  if (type !== punct.colon) return undefined;
  const hint = next.tokenType === Newline ? 'delete it' : 'write each statement and the end of the block on a line of its own';
  return { message: 'the head of a block does not end with `:`', hint };
}

/** Whether the part that was being read follows a keyword that opens a block. */
function inBlockHead(mismatch: Mismatch): boolean {
  const before = lineBefore(mismatch);
  const opener = before[before.indexOf(mismatch.first) + 1]?.tokenType;
  return opener !== undefined && (closers.has(opener) || opener === keyword.else);
}

const wordOperators: ReadonlyMap<string, string> = new Map([
  ['is', '`==`'],
  ['equals', '`==`'],
  ['eq', '`==`'],
  ['mod', '`%`'],
  ['div', '`/`'],
  ['xor', '`!=`'],
  ['AND', '`and`'],
  ['OR', '`or`'],
  ['NOT', '`not`'],
]);

const oneValue: Advice = { message: '`emit` takes one value', hint: 'write `emit a + " " + b`; for a list, `emit [a, b]`' };

/** `emit(a, b)`, as in languages where it would be a call. */
function called(mismatch: Mismatch): Advice | undefined {
  if (mismatch.peek(1).tokenType !== punct.comma) return undefined;
  const [name, open] = lineBefore(mismatch).slice(-2).toReversed();
  return name?.tokenType === keyword.emit && open?.tokenType === punct.openParen ? oneValue : undefined;
}

/** Text after a statement that is complete. */
function surplus({ peek, first }: Mismatch): Advice | undefined {
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  const type = found.tokenType;
  if (type === punct.comma && first.tokenType === keyword.emit) return oneValue;
  if (type === keyword.if)
    return {
      message: '`if` is a statement, not an operator',
      hint: 'write `if …`, `set …`, `else`, `set …`, `endif` on lines of their own',
    };
  if (type === keyword.in)
    return { message: '`in` is not an operator', hint: 'test membership with `for each`, a map, or a tool' };
  if (blockEnds.has(type) || lineStarters.has(type)) {
    return { message: `\`${found.image}\` must begin a line of its own`, hint: 'a statement ends with its line' };
  }
  if (type === StringLiteral && before.tokenType === Identifier && touches(before, found)) {
    return { message: 'a string has no prefix', hint: 'write a template: ```…{{x}}…```' };
  }
  if (isUnequal(found, next)) return noUnequal;
  const meant = wordOperators.get(found.image);
  return meant === undefined ? undefined : { message: `\`${found.image}\` is not an operator`, hint: `write ${meant}` };
}

const noUnequal: Advice = { message: '`<>` is not an operator', hint: 'write `!=`' };

function isUnequal(left: IToken, right: IToken): boolean {
  return left.tokenType === punct.less && right.tokenType === punct.greater;
}

/** The form of each statement, for mismatches without more specific advice. */
const forms: ReadonlyMap<TokenType, string> = new Map([
  [keyword.set, 'write `set x = value`'],
  [keyword.call, 'write `call f(…)` or `call tool.group.Name(…)`'],
  [keyword.emit, 'write `emit value`'],
  [keyword.whisper, 'write `whisper handle, value`'],
  [keyword.must, 'write `must condition`'],
  [keyword.ask, 'write `ask model, prompt into x`'],
  [keyword.promptuser, "write `promptuser 'question' into x`"],
  [keyword.clear, "write `clear event name` or `clear event named 'handler'`"],
]);

/** Something is missing before the offending token. */
function missing(mismatch: Mismatch): Advice | undefined {
  const { peek, expected, first } = mismatch;
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  if (expected === aValue) {
    if (isUnequal(before, found)) return noUnequal;
    if (found.tokenType === punct.closeBrace && before.tokenType === punct.openPlaceholder) {
      return { hint: 'a map that begins with a map needs a space between the two braces: `{ {…}: … }`' };
    }
    if (found.tokenType === Newline && !lineStarters.has(before.tokenType))
      return { hint: 'to continue on the next line, end this one with a backslash or put the expression in brackets' };
  }
  if (expected === punct.openParen.LABEL) return { hint: 'a call has parentheses, even without arguments: `f()`' };
  if (expected === punct.colon.LABEL) return { hint: "a map is written {'key': value, 'other': value}" };
  if (expected === punct.closeBrace.LABEL && next.tokenType !== punct.closeBrace && inPlaceholder(mismatch))
    return { hint: 'a bare placeholder is written {{name}}' };
  if (expected === keyword.event.LABEL && found.tokenType === keyword.error) {
    return { message: '`on error` is outside any block', hint: 'move it into the block that it guards' };
  }
  const form = forms.get(first.tokenType);
  return expected === endOfLine || form === undefined ? undefined : { hint: form };
}

/** Whether the innermost brace before the offending token opens a placeholder. */
function inPlaceholder(mismatch: Mismatch): boolean {
  const brace = lineBefore(mismatch).find(({ tokenType: type }) => type === punct.openPlaceholder || type === punct.openBrace);
  return brace?.tokenType === punct.openPlaceholder;
}
