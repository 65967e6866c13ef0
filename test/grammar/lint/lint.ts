import { analyse, type CheckedFile, type Environment, type Finding } from '../../../grammar/lint/index.ts';
import { parse } from '../../../grammar/syntax/parse.ts';

/** Parses a source that must be free of errors, for the linter. */
export function checked(text: string, name = 'test.ns'): CheckedFile {
  const result = parse(text, { name });
  if (!result.ok)
    throw new Error(`not accepted: ${result.errors.map((e) => `${e.line}:${e.column} ${e.message}`).join('; ')}\n${text}`);
  return { file: result.file, text: result.text };
}

export function findings(text: string, environment: Environment = {}): readonly Finding[] {
  return analyse([checked(text)], environment);
}

/** Wraps statements into a command block. The first of them is on line 2. */
export function command(...lines: readonly string[]): string {
  return `command\n${lines.map((line) => `${line}\n`).join('')}endcommand\n`;
}

/** Findings about the statements of a command block, each as `line:column CODE`. */
export function brief(lines: readonly string[], environment: Environment = {}): readonly string[] {
  return findings(command(...lines), environment).map(({ line, column, code }) => `${line}:${column} ${code}`);
}

/** A source after the edits of all its findings. */
export function fixed(text: string, environment: Environment = {}): string {
  const lines = text.split('\n');
  const edits = findings(text, environment).flatMap(({ fix }) => fix.edits);
  for (const edit of edits.toSorted((a, b) => b.line - a.line || b.column - a.column)) {
    if (edit.line !== edit.endLine) throw new Error('an edit of several lines');
    const characters = [...(lines[edit.line - 1] ?? '')];
    characters.splice(edit.column - 1, edit.endColumn - edit.column, edit.text);
    lines[edit.line - 1] = characters.join('');
  }
  return lines.join('\n');
}
