import { printable, printableLines, renderEnd, renderError, type SourceTexts } from '../../report/index.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { OutFrame } from '../../wire/protocol.ts';
import type { RunResult } from '../../wire/result.ts';
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

/** Whether a tool keeps values: `--storage` says where, and allows it. */
export function keepsValues(tool: string): boolean {
  return ['tool.memory.', 'tool.scratch.', 'tool.capsule.'].some((group) => tool.startsWith(group));
}

/** An error with what to write so that it does not come again: for a denied call, the flags and the lines of a policy file. */
export function withNextStep(error: ErrorInfo): ErrorInfo {
  // No file makes a person change their mind.
  if (error.code !== 'NS1003' || error.hint !== undefined || error.message.includes('a person refused')) return error;
  const tool = /^tool '([\w.]+)' was not found/.exec(error.message)?.[1];
  if (tool !== undefined) return { ...error, hint: howToAllow(tool) };
  const grants = /^permission denied for tool '[\w.]+': missing required grants\. Required: \[([^\]]+)\]/.exec(
    error.message,
  )?.[1];
  return { ...error, hint: grants === undefined ? WITHOUT_FLAG : adding(`grants: [${JSON.stringify(grants)}]`) };
}

/** A turn or the end of a session, as it is shown, with what {@link withNextStep} says. */
export function withAdvice<Shown extends { readonly error: ErrorInfo | null }>(shown: Shown): Shown {
  return shown.error === null ? shown : { ...shown, error: withNextStep(shown.error) };
}

const WITHOUT_FLAG =
  "a file given with --policy says what is allowed; without one, the tools of --tools and --mcp and those without effects ('explain NS1003')";

/** The flags that allow a tool by its canonical name, and what to add to the policy file. */
export function howToAllow(tool: string): string {
  const storage = keepsValues(tool) ? `with --storage FILE ('none': in memory), or ` : '';
  return `allow it ${storage}${adding(`allow: [${tool}]`)}; a first FILE must name the other tools of the program, too`;
}

function adding(lines: string): string {
  return `by adding to the file of --policy FILE: {${lines}} ('explain NS1003')`;
}
