import { type ErrorInfo, NeuroScriptError } from '../wire/errors.ts';

/**
 * What a tool throws to raise an error of the language: `on error` sees this code and message. Anything else that a tool
 * throws becomes code 21 with the text of its message.
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
  /** A number of the table in `docs/errors`, or one of the tool's own from 1000 on; `code` is `NS` and that number. */
  readonly nsCode: number;
  /** What the program should do instead, shown to its author. */
  readonly hint: string | undefined;
  constructor(nsCode: number, message: string, hint?: string, options?: ErrorOptions) {
    super(`NS${nsCode}`, message, options);
    this.nsCode = nsCode;
    this.hint = hint;
  }
}

/** Ends the run. It passes through the code of tools, which might catch it: the dispatcher therefore remembers why the run ends. */
export class Halt extends Error {
  readonly info: ErrorInfo;
  constructor(info: ErrorInfo) {
    super(info.message);
    this.info = info;
  }
}
