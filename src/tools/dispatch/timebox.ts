import { NS_CODES } from '../../wire/codes.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { ToolError } from '../errors.ts';

/**
 * The outcome of a tool's work. When the tool's own time is over, aborts `expired` and rejects with {@link ToolError} 37. Work that
 * never awaits blocks the whole host process and cannot be stopped: the author of the tool has to avoid it.
 */
export function timeboxed<T>(
  { canonicalName, timeoutMs }: ToolDefinition,
  expired: AbortController | null,
  work: () => Promise<T>,
): Promise<T> {
  return timeoutMs === null ? work() : within(timeoutMs, canonicalName, expired, work);
}

async function within<T>(
  timeoutMs: number,
  canonicalName: string,
  expired: AbortController | null,
  work: () => Promise<T>,
): Promise<T> {
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
