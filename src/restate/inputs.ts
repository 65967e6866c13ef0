import { z } from 'zod';
import { FIRST_ISSUE } from '../files/check.ts';
import type { TaggedJson } from '../wire/protocol.ts';

/** The input of a handler comes over a network, so its form is checked here. The controller checks the values. */
const JSON_VALUE = z.custom<TaggedJson>((value) => value !== undefined, 'it is missing');

/** How `start` is called. */
export const START = z.strictObject({ userdata: JSON_VALUE, durable: z.enum(['turn', 'call']).optional() });

/** How `complete` is called. */
export const COMPLETE = z.union([
  z.strictObject({ call: z.string(), result: JSON_VALUE, acceptChanged: z.boolean().optional() }),
  z.strictObject({
    call: z.string(),
    error: z.strictObject({ message: z.string(), code: z.exactOptional(z.int()) }),
    acceptChanged: z.boolean().optional(),
  }),
]);

/** How `turn` is called: with the number of the turn, or with nothing, which stands for the next one. */
export const TURN = z.int().min(1).nullish();

/** Reads an input. `refused` makes the error of one that has another form. */
export function readInput<T>(schema: z.ZodType<T>, input: unknown, refused: (message: string) => Error): T {
  const { success, data, error } = schema.safeParse(input, FIRST_ISSUE);
  if (success) return data;
  const [issue] = error.issues;
  throw refused(`the input cannot be read: ${issue?.path.join('.') || 'it'}: ${issue?.message}`);
}
