export const command = (...lines: readonly string[]): string =>
  ['command', ...lines.map((line) => `  ${line}`), 'endcommand', ''].join('\n');

/** A procedure with this head and these statements. */
export const func = (head: string, ...lines: readonly string[]): string =>
  [`func ${head} means`, ...lines.map((line) => `  ${line}`), 'endfunc', ''].join('\n');
