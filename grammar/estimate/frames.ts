/** The most bytes that the frames of a program take. */

import type { Block, SourceFile } from '../syntax/ast.ts';
import { allOf, eachStatement, namesIn, setBy } from '../syntax/walk.ts';
import { ERROR_VARIABLES } from '../vocabulary/builtins.ts';
import type { FuelCosts } from './costs.ts';

/** Bytes of one frame of every procedure and of the outermost frame. Without recursion no more frames exist at once. */
export function frameBytes(files: readonly SourceFile[], { values }: FuelCosts): number {
  const of = (names: ReadonlySet<string>): number => values.frame.amount + values.slot.amount * names.size;
  let outermost = of(slotNames(files.flatMap(({ commands }) => commands.map(({ body }) => body))));
  let bytes = 0;
  for (const { procedures, events } of files) {
    for (const { needs, optional, body } of procedures)
      bytes += of(slotNames([body])) + values.slot.amount * (needs.length + optional.length);
    for (const { body } of events) outermost = Math.max(outermost, of(slotNames([body])) + values.slot.amount);
  }
  return bytes + outermost;
}

/** The variables that the blocks mention, and one for each loop. */
function slotNames(blocks: readonly Block[]): ReadonlySet<string> {
  const names = new Set<string>(ERROR_VARIABLES);
  let loops = 0;
  for (const block of blocks) {
    eachStatement(block, (stmt) => {
      for (const name of [...setBy(stmt), ...namesIn(allOf(stmt))]) names.add(name);
      if (stmt.k === 'for') names.add(`loop ${++loops}`);
    });
  }
  return names;
}
