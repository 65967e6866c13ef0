import { TextDecoder } from 'node:util';
import { type Line, splitLines } from '../../files/lines.ts';
import { quantity } from '../../report/index.ts';
import { answerRequest, type Runtime } from '../../runtime/index.ts';
import { usageError } from '../../wire/errorinfo.ts';
import { type PublicResult, refusedResult, resultText, toPublicResult } from '../../wire/result.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { inOrder } from '../terminal/inorder.ts';
import { until } from '../terminal/input.ts';
import { oneLine } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Maximum bytes of a request line. The answer to a longer one is an error; its bytes are dropped. */
const LINE_BYTES = 16 * 1024 * 1024;

/**
 * `run --jsonl`: answers the request lines of standard input in their order and works on up to `width` at once. The answer to a
 * malformed line is an error. An interrupt ends the input and cancels the requests at work.
 */
export async function answerRequests(
  runtime: Runtime,
  { width, journal }: { readonly width: number; readonly journal: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  const { interrupt, out } = terminal;
  let lineNumber = 0;
  const answer = async (line: Line): Promise<PublicResult> => {
    lineNumber += 1;
    const number = lineNumber;
    const text = textOf(line);
    const result =
      typeof text === 'string' ? await answerRequest(runtime, text, { signal: interrupt, journal, markedKeys: true }) : text;
    return numbered(result, number);
  };
  const lines = splitLines(until(interrupt, terminal.stdin), LINE_BYTES);
  await inOrder(lines, width, answer, (result) => out.lineWhenReady(oneLine(resultText(result))));
  return interrupt.aborted ? EXIT.cancelled : EXIT.ok;
}

/** The request of a line, or the answer to a line without one. */
function textOf(line: Line): string | PublicResult {
  if (line === null) return refused(`the line is longer than ${quantity('bytes', LINE_BYTES)}`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(line);
  } catch {
    return refused('the line is not UTF-8 text');
  }
}

/** The answer to a line that is not a request names the line. */
function numbered(result: PublicResult, line: number): PublicResult {
  const { phase, error } = result;
  if (phase !== 'request' || error?.kind !== 'usage') return result;
  return { ...result, error: error.with({ message: `line ${line} of the input: ${error.message}` }) };
}

function refused(message: string): PublicResult {
  return toPublicResult(null, refusedResult(usageError(message)));
}
