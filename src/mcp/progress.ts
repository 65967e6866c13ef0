import type { Progress } from '@modelcontextprotocol/client';
import type { Logger } from '../context/index.ts';
import { note } from '../telemetry/index.ts';
import { plainWords } from './serverschema.ts';

/** A progress report of a server about a call. */
export interface McpProgress {
  /** Name of the server in the configuration. */
  readonly server: string;
  /** The server's name of the tool. */
  readonly tool: string;
  /** The progress in the server's unit. It only grows. */
  readonly progress: number;
  /** `progress` at the end of the call; null when the server does not know. */
  readonly total: number | null;
  /** The server's message, cleaned; '' if it has none. */
  readonly message: string;
}

/** Takes what a server reports about one call, and passes on what grows. */
export function progressReport(
  server: string,
  tool: string,
  logger: Logger,
  onProgress: ((progress: McpProgress) => void) | null,
): (progress: Progress) => void {
  let reached = Number.NEGATIVE_INFINITY;
  return ({ progress, total, message }) => {
    if (progress <= reached) return;
    reached = progress;
    const words = plainWords(message ?? '');
    const report: McpProgress = { server, tool, progress, total: total ?? null, message: words };
    logger.debug(report, `MCP server ${server}: ${tool}: ${progress}${total === undefined ? '' : ` of ${total}`} ${words}`);
    note('mcp.progress', { progress, message: words, total });
    onProgress?.(report);
  };
}
