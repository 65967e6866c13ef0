/** A code block of a Markdown page that its author wants to be executed, marked by a comment (`<!-- run -->`) on the line above it. */
export interface Block {
  readonly language: string;
  readonly code: string;
  /** 1-based line of the opening fence. */
  readonly line: number;
  /** The `text` block that follows at once, with nothing but blank lines between: what the code prints. */
  readonly output: string | null;
}

interface Fence {
  readonly language: string;
  readonly code: string;
  readonly first: number;
  readonly last: number;
}

/** The marked blocks of a page, in order. Throws for a mark that no block follows. */
export function markedBlocks(markdown: string, mark = 'run'): Block[] {
  const lines = markdown.split('\n');
  const fences = fencesOf(lines);
  const blank = (from: number, to: number): boolean => lines.slice(from, to).every((line) => line.trim() === '');
  return lines.flatMap((line, index) => {
    if (line.trim() !== `<!-- ${mark} -->`) return [];
    const at = fences.findIndex((fence) => fence.first > index);
    const fence = fences[at];
    if (fence === undefined || !blank(index + 1, fence.first))
      throw new Error(`line ${index + 1}: no block follows <!-- ${mark} -->`);
    const next = fences[at + 1];
    const output = next?.language === 'text' && blank(fence.last + 1, next.first) ? next.code : null;
    return [{ language: fence.language, code: fence.code, line: fence.first + 1, output }];
  });
}

function fencesOf(lines: readonly string[]): Fence[] {
  const fences: Fence[] = [];
  for (let first = 0; first < lines.length; first++) {
    const language = /^```(\w*)\s*$/.exec(lines[first] ?? '')?.[1];
    if (language === undefined) continue;
    let last = first + 1;
    while (last < lines.length && lines[last] !== '```') last++;
    fences.push({ language, code: `${lines.slice(first + 1, last).join('\n')}\n`, first, last });
    first = last;
  }
  return fences;
}

/** Whether a text is what a page promises; `…` in the promise stands for anything within a line, where values vary. */
export function matches(actual: string, promised: string): boolean {
  const pattern = promised
    .trimEnd()
    .split('…')
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('[^\\n]*');
  return new RegExp(`^${pattern}$`).test(actual.trimEnd());
}
