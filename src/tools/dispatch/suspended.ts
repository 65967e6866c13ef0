import { NS_CODES } from '../../wire/codes.ts';
import { suspendedError } from '../../wire/errorinfo.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { Halt, ToolError } from '../errors.ts';
import type { Pending } from '../pending.ts';

/** Ends a run whose tool will answer later. */
export class Suspended extends Halt {
  readonly pending: Pending;
  constructor(who: string, pending: Pending) {
    super(suspendedError(`${who} will answer later: ${pending.reason}`));
    this.pending = pending;
  }
}

/** Ends a run at a call that a person has to allow. */
export class NeedsPerson extends Halt {
  constructor(reason: string) {
    super(suspendedError(reason));
  }
}

/**
 * The error of a call whose tool will answer later. If the host keeps the run (`mayWait`), the whole run ends with {@link Suspended}.
 * Otherwise, and if another tool made the call (`depth` above 0), the call fails with code 19.
 */
export function suspend(
  { canonicalName }: ToolDefinition,
  pending: Pending,
  depth: number,
  mayWait: boolean,
): Suspended | ToolError {
  if (depth > 0)
    return new ToolError(
      NS_CODES.PreconditionFailed,
      `tool '${canonicalName}' will answer later, and no tool can wait for another one`,
    );
  if (mayWait) return new Suspended(`tool '${canonicalName}'`, pending);
  return new ToolError(
    NS_CODES.PreconditionFailed,
    `tool '${canonicalName}' will answer later (${pending.reason}), and nobody keeps this run until then`,
    'only turns of the host loop can wait',
  );
}

/** The error of a question whose user will answer later, like {@link suspend} for tools. */
export function suspendPrompt(pending: Pending, mayWait: boolean): Suspended | ToolError {
  if (mayWait) return new Suspended('the user', pending);
  return new ToolError(NS_CODES.IOFailed, 'promptuser has no input to read from here');
}
