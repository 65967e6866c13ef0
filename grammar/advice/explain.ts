/**
 * Turns a mismatch into an error that says what is wrong, and a hint that shows the NeuroScript form. Models write forms of other
 * languages, so each such habit with a clear counterpart has its own advice.
 */

import { endOf } from '../syntax/build.ts';
import { problemAt, type SyntaxProblem } from '../syntax/problem.ts';
import {
  BinaryOperator,
  BuiltIn,
  blockEnds,
  Identifier,
  keyword,
  Metadata,
  Newline,
  punct,
  TemplateOpen,
} from '../syntax/tokens.ts';
import { shorten } from './characters.ts';
import { adviseOnExpression } from './expressions.ts';
import { foreignKeyword } from './keywords.ts';
import { type Advice, describe, expectedFound, type Mismatch } from './mismatch.ts';
import { adviseOnStatement } from './statements.ts';

export function explain(mismatch: Mismatch): SyntaxProblem {
  const found = mismatch.peek(1);
  const { message = expectedFound(mismatch), hint } = advise(mismatch) ?? {};
  const end = found.tokenType === Newline ? mismatch.at : Math.max(mismatch.at, endOf(found));
  return problemAt(mismatch.at, end, message, hint);
}

function advise(mismatch: Mismatch): Advice | undefined {
  if (mismatch.expected === 'a block') return betweenBlocks(mismatch);
  if (mismatch.expected === 'a statement') return noStatement(mismatch);
  return adviseOnStatement(mismatch);
}

const misplacedMetadata = 'a metadata line cannot stand here';

/** A line outside all blocks. */
function betweenBlocks({ peek }: Mismatch): Advice {
  const found = peek(1);
  const type = found.tokenType;
  if (type === Metadata) {
    const hint = 'move it to the head of the file, or to the line after `func … means` or `command`';
    return { message: misplacedMetadata, hint };
  }
  if (blockEnds.has(type) || type === keyword.else) return { message: `\`${found.image}\` ends no open block` };
  const word = foreignKeyword(found, peek(2));
  if (word?.topLevel === true) return word;
  if (type === TemplateOpen) {
    return {
      message: 'a template string is outside any block',
      hint: 'delete the Markdown fence: it is not part of the program',
    };
  }
  return {
    message: `${describe(found)} is outside any block`,
    hint: 'put statements between `command` and `endcommand`, or into `func name() means` … `endfunc`',
  };
}

/** A line that begins with no statement keyword. */
function noStatement(mismatch: Mismatch): Advice | undefined {
  const { peek } = mismatch;
  const found = peek(1);
  const next = peek(2);
  const type = found.tokenType;
  const name = shorten(found.image);
  if (type === Metadata) {
    return { message: misplacedMetadata, hint: 'move it to the line after `func … means` or `command`, before any blank line' };
  }
  const word = foreignKeyword(found, next);
  if (word !== undefined) return word;
  if (type === keyword.tool)
    return { message: 'a tool call alone is not a statement', hint: 'write `call tool.…(…)`, or `set x = tool.…(…)`' };
  if (type === Identifier || type.CATEGORIES?.includes(BuiltIn)) {
    const operator = assignmentOperator(peek);
    if (operator === '=') return { message: 'an assignment needs `set`', hint: `write \`set ${name} = …\`` };
    if (operator !== undefined)
      return { message: `\`${operator}\` is not an operator`, hint: `write \`set ${name} = ${name} ${operator.charAt(0)} …\`` };
    if (next.tokenType === punct.openParen)
      return { message: 'a call alone is not a statement', hint: `write \`call ${name}(…)\`` };
    if (next.tokenType === punct.dot)
      return { message: 'values have no methods', hint: 'use a built-in function or a tool: `call tool.…(…)`' };
  }
  const advice = adviseOnExpression(mismatch);
  if (advice !== undefined) return advice;
  if (type === punct.dot || type.CATEGORIES?.includes(BinaryOperator))
    return {
      message: `a statement does not begin with \`${name}\``,
      hint: 'to go on with the line above, end that one with a backslash, or put the whole expression in brackets',
    };
  return {
    message: `expected a statement, found ${describe(found)}`,
    hint: 'a statement begins with a keyword such as `set`, `call`, `emit`, `if`, `while` or `for each`',
  };
}

/** The assignment operator of a line without `set`: `=`, `+=`, `++` and similar; undefined when there is none. */
function assignmentOperator(peek: Mismatch['peek']): string | undefined {
  for (let ahead = 2; ahead < 40; ahead++) {
    const token = peek(ahead);
    const type = token.tokenType;
    if (type === Newline || type.name === 'EOF' || type === punct.openParen) return undefined;
    const before = peek(ahead - 1);
    const operator = [punct.plus, punct.minus, punct.star, punct.slash, punct.percent].includes(before.tokenType);
    if (type === punct.assign) return operator ? `${before.image}=` : '=';
    if (ahead === 3 && operator && type === before.tokenType) return before.image.repeat(2);
  }
  return undefined;
}
