/**
 * Turns a mismatch into a message that says what is wrong and shows the NeuroScript form. Models write what they know from
 * other languages; each habit that has a clear counterpart here gets its own words.
 */

import { endOf } from '../syntax/build.ts';
import { problemAt, type SyntaxProblem } from '../syntax/problem.ts';
import { BuiltIn, blockEnds, Identifier, keyword, Metadata, Newline, punct, TemplateOpen } from '../syntax/tokens.ts';
import { shorten } from './characters.ts';
import { habit } from './expressions.ts';
import { foreignWord } from './keywords.ts';
import { type Advice, describe, type Mismatch } from './mismatch.ts';
import { adviseInLine } from './statements.ts';

/** Explains one mismatch. */
export function explain(mismatch: Mismatch): SyntaxProblem {
  const found = mismatch.peek(1);
  const { message = usual(mismatch), hint } = advise(mismatch) ?? {};
  const end = found.tokenType === Newline ? mismatch.at : Math.max(mismatch.at, endOf(found));
  return problemAt(mismatch.at, end, message, hint);
}

function usual({ expected, peek }: Mismatch): string {
  return `expected ${expected}, found ${describe(peek(1))}`;
}

function advise(mismatch: Mismatch): Advice | undefined {
  const { expected } = mismatch;
  if (expected === 'a block') return betweenBlocks(mismatch);
  if (expected === 'a statement') return noStatement(mismatch);
  return adviseInLine(mismatch);
}

/** Something stands outside of all blocks. */
function betweenBlocks(mismatch: Mismatch): Advice {
  const found = mismatch.peek(1);
  const type = found.tokenType;
  if (type === Metadata) {
    return {
      message: 'a metadata line cannot stand here',
      hint: 'it belongs to the head of the file, or right after `func … means` or `command`',
    };
  }
  if (blockEnds.has(type) || type === keyword.else) return { message: `\`${found.image}\` ends no open block` };
  const word = foreignWord(found, mismatch.peek(2));
  if (word?.topLevel === true) return word;
  if (type === TemplateOpen) {
    return {
      message: 'a template string stands outside of any block',
      hint: 'a Markdown fence is no part of the program: delete it',
    };
  }
  return {
    message: `${describe(found)} stands outside of any block`,
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
    return {
      message: 'a metadata line cannot stand here',
      hint: 'it belongs right after `func … means` or `command`, before any blank line',
    };
  }
  const word = foreignWord(found, next);
  if (word !== undefined) return word;
  if (type === keyword.tool)
    return { message: 'a tool call alone is no statement', hint: 'write `call tool.…(…)`, or `set x = tool.…(…)`' };
  if (type === Identifier || type.CATEGORIES?.includes(BuiltIn)) {
    const change = assigns(peek);
    if (change === '=') return { message: `an assignment needs \`set\``, hint: `write \`set ${name} = …\`` };
    if (change !== undefined)
      return { message: `\`${change}\` is no operator`, hint: `write \`set ${name} = ${name} ${change.charAt(0)} …\`` };
    if (next.tokenType === punct.openParen) return { message: `a call alone is no statement`, hint: `write \`call ${name}(…)\`` };
    if (next.tokenType === punct.dot)
      return { message: 'values have no methods', hint: 'use a built-in function or a tool: `call tool.…(…)`' };
  }
  return (
    habit(mismatch) ?? {
      message: `expected a statement, found ${describe(found)}`,
      hint: 'a statement begins with a keyword such as set, call, emit, if, while, for each',
    }
  );
}

/** Whether the line is meant to change a variable: `=`, or the operator of `+=`, `++` and their like. */
function assigns(peek: Mismatch['peek']): string | undefined {
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
