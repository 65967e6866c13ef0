/** Advice on lines that begin well and go wrong. */
import type { IToken, TokenType } from 'chevrotain';
import { endOf } from '../syntax/build.ts';
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
import { habit, sideBySide } from './expressions.ts';
import { type Advice, describe, type Mismatch } from './mismatch.ts';

const endOfLine = Newline.LABEL ?? '';
const aName = Identifier.LABEL ?? '';

/** The first advice that fits, from the most particular to the most general. */
export function adviseInLine(mismatch: Mismatch): Advice | undefined {
  return (
    doubleBracket(mismatch) ??
    habit(mismatch) ??
    reserved(mismatch) ??
    number(mismatch) ??
    assignment(mismatch) ??
    head(mismatch) ??
    (mismatch.expected === endOfLine ? surplus(mismatch) : undefined) ??
    sideBySide(mismatch) ??
    missing(mismatch)
  );
}

/** `[[text]]` without the header that makes it a string (P11). */
function doubleBracket({ peek }: Mismatch): Advice | undefined {
  for (let back = 0; back > -40; back--) {
    const token = peek(back);
    if (token.tokenType === Newline || token.tokenType.name === 'EOF') return undefined;
    const before = peek(back - 1);
    const adjacent = before.startOffset + 1 === token.startOffset && token.tokenType === before.tokenType;
    if (!adjacent) continue;
    if (token.tokenType === punct.closeBracket) return undefined;
    if (token.tokenType === punct.openBracket) {
      return {
        hint: '`[[` opens a list within a list: write text in quotes, or put `:: strings: double-bracket` at the head of the file',
      };
    }
  }
  return undefined;
}

const clauses: ReadonlySet<TokenType> = new Set([keyword.needs, keyword.optional, keyword.returns]);
const noCommas = 'clauses are not separated by commas: `func f(needs a, b optional c returns r) means`';

/** A keyword where a name or a value belongs. */
function reserved({ expected, peek }: Mismatch): Advice | undefined {
  const { tokenType: type, image } = peek(1);
  if (expected === aName && clauses.has(type) && peek(0).tokenType === punct.comma) return { hint: noCommas };
  if (expected === 'a value' && type === keyword.mustbe)
    return { message: '`mustbe` is not a statement', hint: 'write `must` and a condition' };
  if (expected === 'a value' && type === keyword.must)
    return {
      message: '`must` is a statement and gives no value',
      hint: 'write `set x = …`, and `must` with a condition on the next line',
    };
  if (expected === 'a value' && type === keyword.timedate)
    return { message: '`timedate` is no value', hint: 'ask a tool for the time: `tool.time.Now()`' };
  const asName = expected === aName || expected.startsWith('the name of');
  if (asName && keywords.has(image))
    return { message: `\`${image}\` is a reserved word`, hint: `choose another name, such as \`${image}_\`` };
  if (expected !== 'a value' || type.CATEGORIES?.includes(BuiltIn)) return undefined;
  if (lineStarters.has(type)) return { hint: 'the value is missing' };
  return keywords.get(image) === type && type === keyword.fuzzy
    ? { message: '`fuzzy` is a reserved word, not a value' }
    : undefined;
}

/** Numbers in forms that other languages have. */
function number({ peek, expected }: Mismatch): Advice | undefined {
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  if (expected === 'a value' && found.tokenType === punct.dot && next.tokenType === NumberLiteral) {
    return { message: 'a number begins with a digit', hint: `write 0.${next.image}` };
  }
  if (before.tokenType === punct.dot && peek(-1).tokenType === NumberLiteral && expected === aName) {
    return { message: 'a number ends with a digit', hint: `write ${peek(-1).image}.0` };
  }
  if (before.tokenType === punct.dot && found.tokenType === NumberLiteral) return { hint: `write [${found.image}] for an index` };
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
      return { message: '`:=` is no operator', hint: 'write `set x = …`' };
    if (next.tokenType === punct.assign && found.tokenType.CATEGORIES?.includes(BinaryOperator)) {
      return { message: `\`${found.image}=\` is no operator`, hint: `write \`set x = x ${found.image} …\`` };
    }
    if (found.tokenType === punct.equal) return { message: '`==` compares', hint: 'write `set x = …`' };
    if (found.tokenType === Newline) return { hint: 'write `set x = …`' };
  }
  if (found.tokenType !== punct.assign) return undefined;
  if (before.tokenType === punct.greater || before.tokenType === punct.less) {
    return { message: `\`${before.image} =\` is no operator`, hint: `write \`${before.image}=\`` };
  }
  if (expected === punct.colon.LABEL) return { message: '`=` has no place in a map', hint: "write {'key': value}" };
  if (expected === punct.closeParen.LABEL)
    return { message: '`=` has no place in an expression', hint: 'compare with `==`; arguments have no names' };
  const plain = first.tokenType === keyword.set ? 'compare with `==`' : 'compare with `==`; assign with `set x = …`';
  return { message: '`=` has no place in an expression', hint: plain };
}

/** The head of a block in another language's form. */
function head({ peek, first, expected }: Mismatch): Advice | undefined {
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  const type = found.tokenType;
  if (expected === keyword.each.LABEL) {
    return {
      message: `expected \`each\`, found ${describe(found)}`,
      hint: 'write `for each item in list`; to count, write `set i = 0`, `while i < n`, …, `set i = i + 1`, `endwhile`',
    };
  }
  if (expected === keyword.in.LABEL && (found.image === 'from' || type === punct.assign))
    return { hint: 'to count, write `set i = 0`, `while i < n`, …, `set i = i + 1`, `endwhile`' };
  if (expected === keyword.in.LABEL) return { hint: 'write `for each item in list` or `for each key, value in map`' };
  if (expected === keyword.do.LABEL) {
    if (type === keyword.named) return { message: '`named` comes before `as`', hint: "write `on event e named 'n' as x do`" };
    if (type === keyword.as && before.tokenType === keyword.error) {
      return { message: '`on error` binds no variable', hint: 'write `on error do` and read `system_error`' };
    }
    return { hint: 'write `on error do` or `on event … do`' };
  }
  const inSignature = expected === keyword.means.LABEL || (expected === punct.closeParen.LABEL && opensSignature(first, peek));
  if (inSignature && (type === Identifier || before.tokenType === punct.openParen)) {
    return {
      message: usualIn(expected, found),
      hint: 'parameters follow a word: `func f(needs a, b optional c returns r) means`',
    };
  }
  if (inSignature && type === punct.comma) {
    return { message: usualIn(expected, found), hint: noCommas };
  }
  if (expected === keyword.means.LABEL) return { hint: 'write `func name(needs a, b) means`' };
  if (expected !== endOfLine || !isBlockHead(peek, first)) return undefined;
  if (type === keyword.do || found.image === 'then' || found.image === 'begin') {
    return { message: `\`${found.image}\` has no place here`, hint: 'the head of the block ends with its line' };
  }
  if (type === punct.colon) {
    const hint = next.tokenType === Newline ? 'delete it' : 'write each statement on a line of its own, and the end of the block';
    return { message: 'the head of a block ends without `:`', hint };
  }
  return undefined;
}

function usualIn(expected: string, found: IToken): string {
  return `expected ${expected}, found ${describe(found)}`;
}

function opensSignature(first: IToken, peek: Mismatch['peek']): boolean {
  for (let back = 0; back > -60; back--) {
    const type = peek(back).tokenType;
    if (type === keyword.func) return true;
    if (type === Newline || type.name === 'EOF' || peek(back) === first) return peek(back - 1).tokenType === keyword.func;
  }
  return false;
}

/** Whether the line began with a keyword that opens a block: it stands just before the part that was read. */
function isBlockHead(peek: Mismatch['peek'], first: IToken): boolean {
  for (let back = 0; back > -60; back--) {
    if (peek(back) !== first) continue;
    const opener = peek(back - 1).tokenType;
    return closers.has(opener) || opener === keyword.else;
  }
  return closers.has(peek(0).tokenType) || peek(0).tokenType === keyword.else;
}

/** Text after a statement that is complete. */
function surplus({ peek, first }: Mismatch): Advice | undefined {
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  const type = found.tokenType;
  if (type === punct.comma && first.tokenType === keyword.emit) {
    return { message: '`emit` takes one value', hint: 'write one `emit` for each, or `emit [a, b]`' };
  }
  if (type === keyword.if) return { message: 'a value cannot depend on `if`', hint: 'write if … / set … / else / set … / endif' };
  if (type === keyword.in) return { message: '`in` is no operator', hint: 'test membership with `for each`, a map, or a tool' };
  if (blockEnds.has(type) || lineStarters.has(type)) {
    return { message: `\`${found.image}\` must begin a line of its own`, hint: 'a statement ends with its line' };
  }
  if (type === StringLiteral && before.tokenType === Identifier && endOf(before) === found.startOffset) {
    return { message: 'strings have no prefix', hint: 'write a text with values in it as ```…{{x}}…```' };
  }
  if (type === punct.less && next.tokenType === punct.greater) return { message: '`<>` is no operator', hint: 'write `!=`' };
  const meant = wordOperators.get(found.image);
  if (meant !== undefined) return { message: `\`${found.image}\` is no operator`, hint: `write ${meant}` };
  return undefined;
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

/** Whether the innermost brace before this place is that of a placeholder. */
function opensPlaceholder(peek: Mismatch['peek']): boolean {
  for (let back = 0; back > -60; back--) {
    const type = peek(back).tokenType;
    if (type === punct.openPlaceholder) return true;
    if (type === punct.openBrace || type === Newline || type.name === 'EOF') return false;
  }
  return false;
}

/** How the statements are written, for when nothing more particular can be said. */
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
function missing({ peek, expected, first }: Mismatch): Advice | undefined {
  const [before, found, next] = [peek(0), peek(1), peek(2)];
  const form = forms.get(first.tokenType);
  if (expected === 'a value') {
    if (found.tokenType === punct.greater && before.tokenType === punct.less)
      return { message: '`<>` is no operator', hint: 'write `!=`' };
    if (found.tokenType === punct.closeBrace && before.tokenType === punct.openPlaceholder) {
      return { hint: 'a map in a map begins with a space between the braces: `{ {…}: … }`' };
    }
    const unfinished = found.tokenType === Newline && !lineStarters.has(before.tokenType);
    if (unfinished) return { hint: 'to go on in the next line, end this one with a backslash or put the expression in brackets' };
  }
  if (expected === punct.openParen.LABEL) return { hint: 'a call has parentheses, also without arguments: `f()`' };
  if (expected === punct.colon.LABEL) return { hint: "a map is written {'key': value, 'other': value}" };
  if (expected === punct.closeBrace.LABEL && next.tokenType !== punct.closeBrace && opensPlaceholder(peek))
    return { hint: 'a bare placeholder is written {{name}}' };
  if (expected === keyword.event.LABEL && found.tokenType === keyword.error) {
    return { message: '`on error` stands outside of any block', hint: 'put it into the block that it guards' };
  }
  return expected === endOfLine || form === undefined ? undefined : { hint: form };
}
