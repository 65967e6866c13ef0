import { MAGIC_TOOL, type ToolDefinition } from '../../tools/index.ts';

/** The sections of a page about what a program of one command block cannot define. */
const DEFINITIONS: ReadonlySet<string> = new Set(['## Procedures', '## Events']);

/**
 * A page about the language as it holds for programs with these tools: without the examples, entries, rows and paragraphs that name another
 * tool, and, unless programs may have procedures, without the sections about definitions.
 */
export function fitted(page: string, tools: readonly ToolDefinition[], procedures: boolean): string {
  const known = new Set([MAGIC_TOOL, ...tools.map(({ canonicalName }) => canonicalName)]);
  const fits = (piece: string) => [...piece.matchAll(/\btool(?:\.\w+)+/g)].every(([name]) => known.has(name.toLowerCase()));
  const kept: string[] = [];
  let skips = false;
  for (const piece of piecesOf(page)) {
    if (piece.startsWith('#')) skips = !procedures && DEFINITIONS.has(piece);
    // What is left out leaves no second empty line behind.
    if (!skips && fits(piece) && (piece !== '' || kept.at(-1) !== '')) kept.push(piece);
  }
  return kept.join('\n').trim();
}

/** A page in pieces that stand alone: an example between fences is one piece, every other line another. */
function piecesOf(page: string): readonly string[] {
  const pieces: string[] = [];
  let fence: string | null = null;
  for (const line of page.split('\n')) {
    if (fence !== null) pieces.push(`${pieces.pop()}\n${line}`);
    else pieces.push(line);
    if (fence !== null ? line === fence : line.startsWith('```'))
      fence = fence === null ? line.slice(0, line.lastIndexOf('`') + 1) : null;
  }
  return pieces;
}
