import { NeuroScriptError } from '../wire/errors.ts';

/** A server cannot be reached, does not answer in time, or violates the protocol. */
export class McpError extends NeuroScriptError {
  static readonly code = 'ERR_MCP';
  constructor(server: string, problem: string, options?: ErrorOptions) {
    super(McpError.code, `MCP server '${server}': ${problem}`, options);
  }
}
