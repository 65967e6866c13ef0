import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/client';

/** The digest of each tool of a list, by its name. It changes when the tool's declaration changes. */
export function digestsOf(tools: readonly Tool[]): ReadonlyMap<string, string> {
  return new Map(tools.map((tool) => [tool.name, digestOf(tool)]));
}

function digestOf({ name, description, inputSchema, outputSchema }: Tool): string {
  return createHash('sha256')
    .update(JSON.stringify([name, description, inputSchema, outputSchema]))
    .digest('hex');
}
