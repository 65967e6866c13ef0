/** The units of a program, each with variables of its own. */
import type { Block, Procedure } from '../syntax/ast.ts';
import type { Expr, Name } from '../syntax/astexpressions.ts';
import { bodiesOf, eachStatement, expressionsOf } from '../syntax/walk.ts';
import type { CheckedFile } from './finding.ts';

/** A piece of a unit. Only the unit of the command blocks, which share their variables, has several. */
export interface Part {
  readonly file: CheckedFile;
  readonly body: Block;
}

/** A part of the program with variables of its own. */
export interface Unit {
  readonly kind: 'procedure' | 'event' | 'commands';
  readonly parts: readonly Part[];
  readonly parameters: readonly Name[];
}

export function unitsOf(files: readonly CheckedFile[]): readonly Unit[] {
  const own = files.flatMap((file): Unit[] => [
    ...file.file.procedures.map(({ needs, optional, body }): Unit => {
      return { kind: 'procedure', parts: [{ file, body }], parameters: [...needs, ...optional] };
    }),
    ...file.file.events.map(({ as, body }): Unit => {
      return { kind: 'event', parts: [{ file, body }], parameters: as === undefined ? [] : [as] };
    }),
  ]);
  const commands = files.flatMap((file) => file.file.commands.map(({ body }): Part => ({ file, body })));
  return commands.length === 0 ? own : [...own, { kind: 'commands', parts: commands, parameters: [] }];
}

/** Visits the outermost expressions of all files, each with its file: those of statements and those that name events. */
export function eachRoot(files: readonly CheckedFile[], visit: (file: CheckedFile, expr: Expr) => void): void {
  for (const file of files) {
    for (const { event } of file.file.events) visit(file, event);
    for (const body of bodiesOf(file.file))
      eachStatement(body, (stmt) => {
        for (const expr of expressionsOf(stmt)) visit(file, expr);
      });
  }
}

/** The procedures of all files by name. Several files may define the same name. */
export function proceduresOf(files: readonly CheckedFile[]): ReadonlyMap<string, readonly Procedure[]> {
  return Map.groupBy(
    files.flatMap(({ file }) => file.procedures),
    ({ name }) => name.name,
  );
}
