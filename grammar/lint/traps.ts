/** Reports misleading marks: `--` and `//` begin comments, `[[` may open a template, and some characters cannot be seen. */

import type { AccessStep } from '../syntax/astexpressions.ts';
import { joinerIn } from '../syntax/clean.ts';
import { type Comment, commentsOf } from '../syntax/comments.ts';
import { asksForDoubleBrackets } from '../syntax/metadata.ts';
import type { Span } from '../syntax/position.ts';
import { scan } from '../syntax/scan.ts';
import { operandEnds, TemplateOpen, type Token } from '../syntax/tokens.ts';
import { allOf, bodiesOf, eachStatement, targetsOf } from '../syntax/walk.ts';
import { type CheckedFile, lint, type Report } from './finding.ts';

export function checkTraps(file: CheckedFile, report: Report): void {
  const doubleBrackets = asksForDoubleBrackets(file.text);
  const { tokens } = scan(file.text, doubleBrackets);
  const comments = commentsOf(file.text, tokens);
  for (const comment of comments) {
    const before = tokens[comment.before - 1];
    if (before !== undefined && operandEnds.has(before.tokenType)) commentTrap(file, comment, before, report);
  }
  if (doubleBrackets) for (const token of tokens) templateTrap(file, token, report);
  if (joinerIn(file.text) === undefined) return;
  for (const { startOffset: s, endOffset } of tokens) invisible(file, { s, e: endOffset + 1 }, 'text', report);
  for (const { s, e } of comments) invisible(file, { s, e }, 'comment', report);
}

/** Reports a text or comment with characters that cannot be seen, as in emoji that are joined of several. Nothing else may have them. */
function invisible(file: CheckedFile, span: Span, kind: 'text' | 'comment', report: Report): void {
  const code = joinerIn(file.text.slice(span.s, span.e));
  if (code === undefined) return;
  const fix =
    kind === 'text' ? `write \`\\u${code.slice(2).toLowerCase()}\` where it can be missed` : 'delete it where it can be missed';
  report(file, lint('LINT_INVISIBLE', span, `this ${kind} has the invisible character ${code}`, fix));
}

/** Reports `5--2`, with no blank on either side, and `n // 2`, with only a number after the mark. Any other mark begins a comment. */
function commentTrap(file: CheckedFile, comment: Comment, before: Token, report: Report): void {
  const mark = file.text.slice(comment.s, comment.s + 2);
  if (mark !== '--' && mark !== '//') return;
  const rest = file.text.slice(comment.s + 2, comment.e);
  const adjacent = before.endOffset + 1 === comment.s && /^[A-Za-z0-9_("'[{]/.test(rest);
  if (!adjacent && !/^[ \t]*\d+(?:\.\d+)?[ \t]*$/.test(rest)) return;
  const [meant, message] =
    mark === '--'
      ? ['- -', '`--` begins a comment, so nothing is subtracted']
      : ['/', '`//` begins a comment, so nothing is divided'];
  const gap = { s: before.endOffset + 1, e: comment.e };
  const text = ` ${meant}${mark === '--' ? '' : ' '}${rest.trim()}`;
  const fix = `write \`${meant}\` for the operator, or put a blank before and after the comment mark`;
  report(file, lint('LINT_COMMENT_TRAP', { s: comment.s, e: comment.e }, message, fix, [{ ...gap, text }]));
}

/** Reports a template that looks like a list in a list, in a file with the header `:: strings: double-bracket`. */
function templateTrap(file: CheckedFile, token: Token, report: Report): void {
  if (token.tokenType !== TemplateOpen || token.image !== '[[') return;
  const from = token.endOffset + 1;
  const body = file.text.slice(from, file.text.indexOf(']]', from));
  if (!/^\s*(?:-?\d|["'[{\]])|\]\s*,/.test(body)) return;
  const span = { s: token.startOffset, e: from + body.length + 2 };
  const edit = { s: token.startOffset + 1, e: token.startOffset + 1, text: ' ' };
  const message = 'this is text, not a list in a list, because the header says `:: strings: double-bracket`';
  report(file, lint('LINT_DOUBLE_BRACKET', span, message, 'for a list in a list, put a blank between the two brackets', [edit]));
}

/** Checks the indices of a file that are literals. */
export function checkIndices(file: CheckedFile, report: Report): void {
  const check = (steps: readonly AccessStep[], base: string | null): void => {
    for (const [position, step] of steps.entries()) {
      if (step.k !== 'index' || step.index.k !== 'unary' || step.index.op !== '-') continue;
      const { of } = step.index;
      if (of.k !== 'num' || of.v === 0) continue;
      const list = position === 0 && base !== null ? base : 'xs';
      const message = `no list or text has an element number -${of.v}: its first one is number 0`;
      const fix = `count from the end: \`${list}[len(${list}) - ${of.v}]\`; a key of a map is a text: \`"-${of.v}"\``;
      report(file, lint('LINT_NEGATIVE_INDEX', step.index, message, fix));
    }
  };
  for (const body of bodiesOf(file.file))
    eachStatement(body, (stmt) => {
      for (const { name, steps } of targetsOf(stmt)) check(steps, name.name);
      for (const expr of allOf(stmt))
        if (expr.k === 'access' && expr.base.k !== 'map') check(expr.steps, expr.base.k === 'name' ? expr.base.name : null);
    });
}
