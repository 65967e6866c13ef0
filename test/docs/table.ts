/** A Markdown table, its columns as wide as what is in them: the form that the formatter gives it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((cells) => cells[column]?.length ?? 0)));
  const rule = widths.map((width) => '-'.repeat(width));
  const padded = (cells: readonly string[]): string[] => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  return [head, rule, ...rows].map((cells) => `| ${padded(cells).join(' | ')} |`).join('\n');
}
