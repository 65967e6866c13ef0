import { parseEnvelope } from '../../src/aeiou/index.ts';

/** What an agent is told of its last program. */
export interface Told {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** The program, without its line numbers; null when the reply held none. */
  readonly program: string | null;
  /** What is wrong: the line, from 1, and what to write instead, if that is known. */
  readonly problems: readonly { readonly line: number; readonly fix: string | null }[];
}

/** What the prompt of a further request tells; null for a request that asks for a first program. */
export function toldIn(prompt: string): Told | null {
  const { fields } = JSON.parse(parseEnvelope(new TextEncoder().encode(prompt)).userdata);
  const told = fields?.reply_problem;
  if (told === undefined) return null;
  const { attempt, program, problems = [] } = told;
  return {
    attempt: Number(attempt),
    program: typeof program === 'string' ? program.replaceAll(/^\d+\| /gm, '') : null,
    problems: problems.map(({ at, fix }: { readonly at: string; readonly fix?: string }) => ({
      line: Number.parseInt(at, 10),
      fix: fix ?? null,
    })),
  };
}
