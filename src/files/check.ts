import { z } from 'zod';

/**
 * Settings with which zod ends its check of a foreign value at the first issue. Without them it keeps an issue for every wrong part,
 * which takes hundreds of times the size of the text. `z.record` ignores them; use {@link mapOf}.
 */
export const FIRST_ISSUE = { reportInput: false, abortEarly: true } as const;

/** A map of any keys, whose check ends at the first wrong value. */
export function mapOf<T>(value: z.ZodType<T>): z.ZodType<Readonly<Record<string, T>>> {
  return z.custom<Readonly<Record<string, T>>>(
    (map) =>
      typeof map === 'object' && map !== null && !Array.isArray(map) && Object.values(map).every((each) => value.validate(each)),
    'it is not a map of such values',
  );
}
