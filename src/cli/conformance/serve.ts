import { z } from 'zod';
import { VERSION } from '../../runtime/version.ts';
import type { LanguageRuns } from './language.ts';
import { perform } from './operations.ts';
import { KIT_FORMAT } from './vectors.ts';

const request = z.object({ id: z.number(), op: z.string(), input: z.unknown() });

/**
 * Serves this implementation over the protocol of the conformance kit: one line of answer for each line of request. Throws for a
 * malformed request.
 */
export async function answerLine(line: string, language: LanguageRuns): Promise<string> {
  const { id, op, input } = request.parse(JSON.parse(line));
  if (op === 'hello') return JSON.stringify({ id, ok: { format: KIT_FORMAT, implementation: `neuroscript-runtime ${VERSION}` } });
  const done = op === 'language.run' ? language.run(input) : perform(op, input);
  return JSON.stringify({ id, ...((await done) ?? { unsupported: true }) });
}
