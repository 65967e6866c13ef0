import { parseEnvelope } from '../../src/aeiou/index.ts';

export interface Told {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** The program, without its line numbers; null when the reply held none. */
  readonly program: string | null;
  /** The program with every fix that is told; null when the reply held none. */
  readonly fixed: string | null;
}

/** What the prompt of a further request tells; null for a request that asks for a first program. */
export function toldIn(prompt: string): Told | null {
  const { fields } = JSON.parse(parseEnvelope(new TextEncoder().encode(prompt)).userdata);
  const told = fields?.reply_problem;
  if (told === undefined) return null;
  const { attempt, program, problems = [] } = told;
  const text = typeof program === 'string' ? program.replaceAll(/^\d+\| /gm, '') : null;
  const fixes: Readonly<Record<string, string>> = Object.assign({}, ...problems.map(({ fix = {} }) => fix));
  return { attempt: Number(attempt), program: text, fixed: text === null ? null : withLines(text, fixes) };
}

/** The text with other lines. A key such as `5-7` names lines, from 1. */
function withLines(text: string, fixes: Readonly<Record<string, string>>): string {
  const lines: (string | null)[] = text.split('\n');
  for (const [range, fix] of Object.entries(fixes)) {
    const [first = 0, last = first] = range.split('-').map(Number);
    lines.fill(null, first - 1, last);
    lines[first - 1] = fix;
  }
  return lines.filter((line) => line !== null).join('\n');
}
