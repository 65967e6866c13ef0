import { z } from 'zod';
import { parseStrict } from '../../aeiou/index.ts';
import { type Line, splitLines } from '../../files/lines.ts';
import { quantity } from '../../report/index.ts';
import { BusyError, NeuroScriptError } from '../../wire/errors.ts';
import { messageOf } from '../../wire/unknown.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { inOrder } from '../terminal/inorder.ts';
import { until } from '../terminal/input.ts';
import { oneLine } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Opens one session, and resolves with its id. */
export type OpenOne = (
  userdata: unknown,
  own: { readonly sid?: string | undefined; readonly tenant?: string },
) => Promise<string>;

const LINE_BYTES = 1024 * 1024;
/** Sessions that are opened at once; a store writes one at a time. */
const WIDTH = 4;

const SESSION = z.strictObject({ sid: z.string().exactOptional(), tenant: z.string().exactOptional(), userdata: z.unknown() });

/** What became of a line. */
type Answer =
  | { readonly sid: string }
  | {
      readonly error: { readonly code: string; readonly message: string; readonly line: number; readonly retryAfterMs?: number };
    };

/** Opens a session for each line of standard input, and answers the lines in their order. */
export async function openLines(open: OpenOne, terminal: Terminal): Promise<ExitCode> {
  const { interrupt, out } = terminal;
  let count = 0;
  let failed = 0;
  const answer = async (line: Line): Promise<Answer> => {
    count += 1;
    const number = count;
    try {
      const { userdata, ...own } = read(line);
      return { sid: await open(userdata, own) };
    } catch (error) {
      failed += 1;
      const code = error instanceof NeuroScriptError ? error.code : UsageError.code;
      const retry = error instanceof BusyError && error.retryAfterMs !== undefined ? { retryAfterMs: error.retryAfterMs } : {};
      return { error: { code, message: messageOf(error), line: number, ...retry } };
    }
  };
  const lines = splitLines(until(interrupt, terminal.stdin), LINE_BYTES);
  await inOrder(lines, WIDTH, answer, (result) => out.lineWhenReady(oneLine(JSON.stringify(result))));
  if (interrupt.aborted) return EXIT.cancelled;
  return failed === 0 ? EXIT.ok : EXIT.runtime;
}

function read(line: Line): z.infer<typeof SESSION> {
  if (line === null) throw new UsageError(`the line is longer than ${quantity('bytes', LINE_BYTES)}`);
  const { data, error } = SESSION.safeParse(parseStrict(line, { numbers: 'doubles', padding: true }));
  if (error !== undefined) throw new UsageError('a line is {"userdata": ..., "sid"?: text, "tenant"?: text}');
  return data;
}
