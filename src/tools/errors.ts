import { NS_CODES } from '../wire/codes.ts';
import { type ErrorInfo, NeuroScriptError } from '../wire/errors.ts';
import type { Refusal } from '../wire/journal.ts';

/** What a {@link ToolError} may have beside its code and message. */
export interface ToolErrorOptions extends ErrorOptions {
  /** The field of this name; 0 where nobody knows how long the outage lasts. */
  readonly retryAfterMs?: number | null | undefined;
}

/**
 * A tool throws this to raise an error of the language, with this code and message for `on error`. Any other exception of a tool becomes
 * code 21 with the text of its message.
 *
 * @example
 * ```ts
 * import { defineTool, ToolError } from 'neuroscript-runtime';
 *
 * const stock: Record<string, number> = { bolts: 40 };
 * const count = defineTool({
 *   name: 'tool.stock.Count',
 *   args: [{ name: 'item', type: 'string' }],
 *   run({ item }) {
 *     const found = stock[item];
 *     if (found === undefined) throw new ToolError(9, `there is no item '${item}'`, 'tool.stock.List() names all');
 *     return found;
 *   },
 * });
 * ```
 */
export class ToolError extends NeuroScriptError {
  /**
   * The call had no effect, and the same call may succeed after so many milliseconds: the runtime makes it again, a few times, before the
   * program sees the error. Null for every other failure.
   */
  readonly retryAfterMs: number | null;
  /** A number of the table in `docs/errors`, or one of the tool's own from 1000 to 99899; `code` is `NS` and that number. */
  readonly nsCode: number;
  /** A correction, shown to the author of the program. */
  readonly hint: string | undefined;
  constructor(nsCode: number, message: string, hint?: string, options: ToolErrorOptions = {}) {
    super(`NS${nsCode}`, message, options);
    const { retryAfterMs = null } = options;
    this.nsCode = nsCode;
    this.hint = hint;
    // A tool in JavaScript can give anything.
    this.retryAfterMs = typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : null;
  }
}

/** The refusal of a call by a policy or a grant. */
export class PolicyError extends ToolError {
  readonly refusal: Refusal;
  constructor(message: string, refusal: Refusal, hint?: string) {
    super(NS_CODES.Policy, message, hint);
    this.refusal = refusal;
  }
}

/** Ends the run. The code of a tool might catch it, so the dispatcher also remembers why the run ends. */
export class Halt extends Error {
  readonly info: ErrorInfo;
  constructor(info: ErrorInfo) {
    super(info.message);
    this.info = info;
  }
}
