/** The farthest date from 1970 that JavaScript can write, in milliseconds. */
export const LAST_MS = 8.64e15;

/** Unix milliseconds as RFC 3339; a number outside the calendar unchanged. */
export function timeText(ms: number): string {
  return Math.abs(ms) <= LAST_MS ? new Date(ms).toISOString() : String(ms);
}
