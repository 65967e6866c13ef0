/** How a requirement is broken in the code. */
export interface Break {
  /** The id of the requirement. */
  readonly id: string;
  /** The test file whose titles name it. */
  readonly test: string;
  /** The source file that is changed. */
  readonly file: string;
  /** Texts, each of which the file has once, and what they become. */
  readonly changes: readonly { readonly from: string; readonly to: string }[];
}

/**
 * Parses `broken.txt`: entries with a blank line between them. The first line has the id and the test; the second one the
 * file; lines with `-` and the lines with `+` after them are a change.
 */
export function parseBreaks(text: string): Break[] {
  const entries = text.split(/\n{2,}/).map((entry) => entry.split('\n').filter((line) => line !== '' && !line.startsWith('#')));
  return entries
    .filter((lines) => lines.length > 0)
    .map(([head = '', file = '', ...lines]) => {
      const [id = '', test = ''] = head.split(' ');
      const changes: { from: string; to: string }[] = [];
      for (const [index, line] of lines.entries()) {
        const last = changes.at(-1);
        if (line.startsWith('-') && (last === undefined || lines[index - 1]?.startsWith('+')))
          changes.push({ from: line.slice(2), to: '' });
        else if (last === undefined) throw new Error(`${id}: a change begins with '-'`);
        else if (line.startsWith('-')) last.from += `\n${line.slice(2)}`;
        else last.to += `${lines[index - 1]?.startsWith('+') ? '\n' : ''}${line.slice(2)}`;
      }
      if (changes.length === 0) throw new Error(`${id}: nothing is changed`);
      return { id, test, file, changes };
    });
}
