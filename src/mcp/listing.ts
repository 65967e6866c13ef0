import { type Client, type RequestOptions, SdkError, SdkErrorCode, type Tool } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { defined } from '../wire/defined.ts';
import { isRecord } from '../wire/unknown.ts';
import { plainWords } from './serverschema.ts';

/** Maximum number of pages of a list. */
export const MAX_PAGES = 50;

/** A page of tools of any form. */
const PAGE = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/**
 * The tools that a server lists. The library refuses the whole list for one tool of an unusual form; then each tool is judged by itself.
 * `leftOut` is told what is left out of it, in words. Rejects as the library does.
 */
export async function listTools(
  client: Client,
  options: RequestOptions,
  leftOut: (what: string) => void,
): Promise<readonly Tool[]> {
  try {
    // Bypasses the cache, because only the present list counts.
    return (await client.listTools(undefined, { ...options, cacheMode: 'refresh' })).tools;
  } catch (error) {
    if (!(error instanceof SdkError && error.code === SdkErrorCode.InvalidResult)) throw error;
  }
  const listed: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && (page === 0 || cursor !== undefined); page++) {
    const { tools, nextCursor } = await client.request({ method: 'tools/list', params: defined({ cursor }) }, PAGE, options);
    for (const tool of tools) listed.push(tool);
    cursor = nextCursor;
  }
  if (cursor !== undefined) leftOut(`the tools after page ${MAX_PAGES}`);
  return listed.flatMap((tool, index) => judged(tool, index, leftOut) ?? []);
}

/** A tool with the parts that can be used; null for one that cannot be called. */
function judged(tool: unknown, index: number, leftOut: (what: string) => void): Tool | null {
  if (!isRecord(tool) || typeof tool['name'] !== 'string' || tool['name'] === '') {
    leftOut(`tool ${index + 1} of its list, which has no name`);
    return null;
  }
  const { name, title, description, inputSchema = {}, outputSchema, execution } = tool;
  const of = (part: string): string => `${part} of its tool '${plainWords(name)}'`;
  if (!isRecord(inputSchema)) {
    leftOut(`its tool '${plainWords(name)}', whose inputSchema is not a map`);
    return null;
  }
  // The library leaves out a tool whose headers are declared wrongly, and does not export how it finds that.
  if (JSON.stringify(inputSchema).includes('"x-mcp-header"')) {
    leftOut(`its tool '${plainWords(name)}', which declares headers beside parts of an unusual form`);
    return null;
  }
  const kept: Tool = { name, inputSchema: { ...inputSchema, type: 'object' } };
  if (typeof description === 'string') kept.description = description;
  else if (description !== undefined && description !== null) leftOut(of('the description'));
  if (typeof title === 'string') kept.title = title;
  if (isRecord(outputSchema)) kept.outputSchema = outputSchema as NonNullable<Tool['outputSchema']>;
  else if (outputSchema !== undefined && outputSchema !== null) leftOut(of('the outputSchema'));
  const support = isRecord(execution) ? execution['taskSupport'] : undefined;
  if (support === 'required' || support === 'optional' || support === 'forbidden') kept.execution = { taskSupport: support };
  return kept;
}
