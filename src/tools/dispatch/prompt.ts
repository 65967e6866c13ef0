import type { HostContext } from '../../context/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { errorOf, messageOf } from '../../wire/unknown.ts';
import { ToolError } from '../errors.ts';
import { Pending } from '../pending.ts';

/**
 * `promptuser`: writes the question and a space, reads one line and trims it. Rejects with code 26 without input or at its end, and
 * with {@link Pending} where the input is a host that answers later. Once the signal is aborted, the line is left to the next question.
 */
export async function promptUser(host: HostContext, text: string, signal: AbortSignal): Promise<TaggedJson> {
  if (host.stdin === null) throw new ToolError(NS_CODES.IOFailed, 'promptuser has no input to read from here');
  try {
    host.stdout?.write(`${text} `);
    const line = await host.stdin.next(signal);
    if (line !== null) return line.trim();
  } catch (thrown) {
    const cause = errorOf(thrown);
    if (cause instanceof Pending) throw cause;
    throw new ToolError(NS_CODES.IOFailed, `promptuser could not read a line: ${messageOf(cause)}`, undefined, { cause });
  }
  throw new ToolError(NS_CODES.IOFailed, 'promptuser found the end of the input');
}
