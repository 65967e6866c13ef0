import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/client';

/** What each tool of a list promises, by its name. A tool that promises something else has another digest. */
export function digestsOf(tools: readonly Tool[]): ReadonlyMap<string, string> {
  return new Map(tools.map((tool) => [tool.name, digestOf(tool)]));
}

function digestOf({ name, description, inputSchema, outputSchema }: Tool): string {
  return createHash('sha256')
    .update(JSON.stringify([name, description, inputSchema, outputSchema]))
    .digest('hex');
}
