import { parseEnvelope } from '../../src/aeiou/index.ts';

/** What an agent is told of its last program. */
export interface Told {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** The program, without its line numbers; null when the reply held none. */
  readonly program: string | null;
}

/** What the prompt of a further request tells; null for a request that asks for a first program. */
export function toldIn(prompt: string): Told | null {
  const { fields } = JSON.parse(parseEnvelope(new TextEncoder().encode(prompt)).userdata);
  const told = fields?.reply_problem;
  if (told === undefined) return null;
  const { attempt, program } = told;
  return { attempt: Number(attempt), program: typeof program === 'string' ? program.replaceAll(/^\d+\| /gm, '') : null };
}
