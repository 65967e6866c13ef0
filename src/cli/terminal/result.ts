import { printable, printableLines, renderEnd, renderError, type SourceTexts } from '../../report/index.ts';
import type { OutFrame } from '../../wire/protocol.ts';
import type { RunResult } from '../../wire/result.ts';
import { withNextStep } from './denial.ts';
import type { Terminal } from './terminal.ts';

/** Prints the output of a program: unchanged to a file or a pipe, without control characters to a terminal. */
export function showSaid(said: OutFrame, terminal: Terminal): void {
  for (const text of said.emits) terminal.out.line(terminal.outIsTTY ? printableLines(text) : text);
  for (const { to, text } of said.whispers) {
    const label = terminal.paintErr.dim(`[${printable(to)}]`);
    for (const line of text.split('\n')) terminal.err.prose(`${label} ${printableLines(line)}`);
  }
}

/** Prints how a run ended to standard error; nothing for success. */
export function showEnd(result: RunResult, texts: SourceTexts, terminal: Terminal): void {
  const paint = terminal.paintErr;
  const lines: string[] = [];
  for (const { event, error } of result.eventErrors) {
    lines.push(
      paint.yellow(`a handler of event '${printable(event)}' failed:`),
      ...renderError(withNextStep(error), texts, paint),
    );
  }
  if (result.error !== null) lines.push(...renderEnd(withNextStep(result.error), result.errors ?? [], texts, paint));
  if (result.outputComplete === false) lines.push('the worker was killed: the last emits may be missing');
  for (const line of lines) terminal.err.prose(line);
}
