/** Indices below zero. */
import type { AccessStep } from '../syntax/astexpressions.ts';
import { allOf, bodiesOf, eachStatement, targetsOf } from '../syntax/walk.ts';
import { type CheckedFile, lint, type Report } from './finding.ts';

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
