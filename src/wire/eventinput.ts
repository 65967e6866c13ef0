import { ConfigError } from './errors.ts';
import { anything, checker, checkText, listOf, required } from './options.ts';
import type { EventInput } from './protocol.ts';

/** Checks Unix nanoseconds. */
export const checkTime = (what: string, value: unknown): void => {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
    throw new ConfigError(`${what} must be Unix nanoseconds, a number from 0`);
};

/** Checks events of an application. Their payloads are checked where they are read. */
export const checkEvents = listOf(
  checker<EventInput>({
    name: required(checkText),
    source: required(checkText),
    payload: required(anything),
    id: checkText,
    ts: checkTime,
  }),
);
