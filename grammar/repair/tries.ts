/** The parts of a `try` of another language as NeuroScript. */

/** What a `try` has, as lines of NeuroScript. */
export interface Tried {
  readonly indent: string;
  readonly body: string;
  /** The statements of its handler; null without one. */
  readonly caught: string | null;
  /** Its further parts: `finally`, which runs in any case, and `else`. */
  readonly more: readonly { readonly always: boolean; readonly text: string }[];
}

const LEAVES: ReadonlySet<string> = new Set(['break', 'continue']);

/**
 * The handler, and then what it guards. Behind `clear_error` a program goes on with the statement after the one that failed, so several
 * statements become a loop of one pass, which the handler leaves.
 */
export function guarded({ indent, body, caught, more }: Tried): string {
  const lines = (...parts: readonly string[]): string =>
    parts
      .filter((part) => part.trim() !== '')
      .join('\n')
      .trimStart();
  if (caught === null) return lines(body, ...more.map(({ text }) => text));
  const inside = [body, ...more.filter(({ always }) => !always).map(({ text }) => text)];
  const after = more.filter(({ always }) => always).map(({ text }) => text);
  const single = lines(...inside).split('\n').length === 1;
  if (single || [caught, ...inside].some(leaves))
    return lines('on error do', caught, `${indent}  clear_error`, `${indent}endon`, ...inside, ...after);
  const handled = caught.split('\n');
  const last = handled.at(-1)?.trim() ?? '';
  const returns = wordOf(last) === 'return' && !last.includes('system_error');
  return lines(
    returns ? `set _failed = false\n${indent}for each _try in [1]` : 'for each _try in [1]',
    `${indent}  on error do`,
    ...(returns ? handled.slice(0, -1) : handled).map((line) => `  ${line}`),
    returns ? `${indent}    set _failed = true` : '',
    wordOf(last) === 'fail' ? '' : `${indent}    break`,
    `${indent}  endon`,
    ...inside,
    `${indent}endfor`,
    ...after,
    returns ? `${indent}if _failed\n${indent}  ${last}\n${indent}endif` : '',
  );
}

/** Whether a statement leaves a loop, or goes on with it. */
function leaves(text: string): boolean {
  return text.split('\n').some((line) => LEAVES.has(wordOf(line)));
}

function wordOf(line: string): string {
  return line.trim().split(' ')[0] ?? '';
}
