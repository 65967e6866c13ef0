import { NS_CODES } from '../../wire/codes.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { ToolError } from '../errors.ts';

/**
 * The outcome of a tool's work, or {@link ToolError} 37 once its own time is over, with `expired` aborted. Work that never
 * awaits holds up the whole host process and cannot be stopped: that is the tool's author's affair.
 */
export async function timeboxed<T>(
  { canonicalName, timeoutMs }: ToolDefinition,
  expired: AbortController | null,
  work: () => Promise<T>,
): Promise<T> {
  if (timeoutMs === null) return work();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new ToolError(NS_CODES.ResourceExhaustion, `tool '${canonicalName}' took longer than ${timeoutMs} ms`);
    expired?.abort(error);
    late.reject(error);
  }, timeoutMs);
  try {
    return await Promise.race([work(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
