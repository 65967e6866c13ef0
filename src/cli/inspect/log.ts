import { z } from 'zod';
import { GENESIS, type StoredLog, verifyStoredLog } from '../../loop/index.ts';
import { chainLines } from '../commands/log.ts';
import { type Artefact, type Found, firstLine, jsonOf, type Kind } from './kind.ts';

/** The fields of every line of a decision log, chained or not. */
const ENTRY = z.looseObject({
  ts: z.string(),
  SID: z.string(),
  turn_index: z.int().min(0),
  decision: z.enum(['CONTINUE', 'DONE', 'ABORT', 'HALT']),
  prev: z.string().optional(),
});

/** Decision logs: JSON lines, each chained to the one before by a hash, which needs no key to check. */
export const LOG: Kind = {
  kind: 'log',
  what: 'a decision log',
  async recognize({ name, text }: Artefact): Promise<Found | string> {
    if (text === null) return 'it is not text';
    const line = firstLine(text);
    const { data: first } = ENTRY.safeParse(line.startsWith('{') ? jsonOf(line) : undefined);
    if (first === undefined) return "its first line is not a JSON object with 'ts', 'SID', 'turn_index' and 'decision'";
    const lines = text.replace(/\n$/, '').split('\n');
    const read = await verifyStoredLog(linesOf(lines), name, { after: first.prev });
    const report =
      read.ok && !text.endsWith('\n')
        ? { ok: false as const, file: name, line: lines.length, why: 'it was not written to its end' }
        : read;
    const later = first.prev !== undefined && first.prev !== GENESIS;
    return {
      title: 'a decision log',
      sure: report.ok ? 'certain' : 'likely',
      error: report.ok ? null : { code: 'ERR_LOG', message: `the chain breaks: ${report.why}`, line: report.line },
      report,
      lines: [...chainLines(report), ...(later ? ['it goes on from an earlier file, which is not looked at here'] : [])],
      next: '"neuroscript log verify FILE" checks the chain over all files of a log; a chain cannot show that its last lines are missing.',
    };
  },
};

function linesOf(texts: readonly string[]): Pick<StoredLog, 'lines'> {
  return {
    async *lines() {
      for (const [index, text] of texts.entries()) yield { line: index + 1, text };
    },
  };
}
