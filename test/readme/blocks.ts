/** A code block of a Markdown page. */
export interface Block {
  readonly language: string;
  readonly code: string;
  /** 1-based line of the opening fence. */
  readonly line: number;
  /** The comment on the line above it, such as `run` of `<!-- run -->`: what its author wants to happen with it. */
  readonly mark: string | null;
  /** The `text` block that follows at once, with nothing but blank lines between: what the code prints. */
  readonly output: string | null;
}

interface Fence {
  readonly language: string;
  readonly code: string;
  readonly first: number;
  readonly last: number;
}

/** The blocks of a page with this mark, in order. Throws for a mark that no block follows. */
export function markedBlocks(markdown: string, mark = 'run'): Block[] {
  const blocks = blocksOf(markdown).filter((block) => block.mark === mark);
  const marks = markdown.split('\n').flatMap((line, index) => (line.trim() === `<!-- ${mark} -->` ? [index + 1] : []));
  const lost = marks.find((line) => !blocks.some((block) => block.line === line + 1 || block.line === line + 2));
  if (lost !== undefined) throw new Error(`line ${lost}: no block follows <!-- ${mark} -->`);
  return blocks;
}

/** All blocks of a page, in order. */
export function blocksOf(markdown: string): Block[] {
  const lines = markdown.split('\n');
  const fences = fencesOf(lines);
  const blank = (from: number, to: number): boolean => lines.slice(from, to).every((line) => line.trim() === '');
  return fences.map(({ language, code, first, last }, index) => {
    const above = lines.slice(0, first).findLastIndex((line) => line.trim() !== '');
    const mark = /^<!-- (.*) -->$/.exec(lines[above]?.trim() ?? '')?.[1] ?? null;
    const next = fences[index + 1];
    const output = next?.language === 'text' && blank(last + 1, next.first) ? next.code : null;
    return { language, code, line: first + 1, mark, output };
  });
}

function fencesOf(lines: readonly string[]): Fence[] {
  const fences: Fence[] = [];
  for (let first = 0; first < lines.length; first++) {
    const [, fence, language = ''] = /^(`{3,})(\w*)(?: [\w ]+)?\s*$/.exec(lines[first] ?? '') ?? [];
    if (fence === undefined) continue;
    let last = first + 1;
    while (last < lines.length && lines[last] !== fence) last++;
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
