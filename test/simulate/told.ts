import { parseEnvelope } from '../../src/aeiou/index.ts';

/** The program that an agent is asked to correct, without its line numbers; null for a request that asks for a first program. */
export function programToCorrect(prompt: string): string | null {
  const { fields } = JSON.parse(parseEnvelope(new TextEncoder().encode(prompt)).userdata);
  const program: unknown = fields?.reply_problem?.program;
  return typeof program === 'string' ? program.replaceAll(/^\d+\| /gm, '') : null;
}
