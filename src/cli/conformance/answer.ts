import { z } from 'zod';
import type { Expectation } from './vectors.ts';

/** An implementation's answer to one request. */
export const answerSchema = z.union([
  z.object({ id: z.number(), ok: z.record(z.string(), z.unknown()) }),
  z.object({ id: z.number(), error: z.string(), message: z.string().optional() }),
  z.object({ id: z.number(), unsupported: z.literal(true) }),
]);

export type Answer = z.infer<typeof answerSchema>;

/** Null for the expected answer, else the difference in words. */
export function differenceOf(expected: Expectation, answer: Answer): string | null {
  if ('unsupported' in answer) return null;
  if ('accepted' in expected) return 'ok' in answer ? null : `expected acceptance, got the error ${answer.error}`;
  if ('error' in expected) {
    const codes = typeof expected.error === 'string' ? [expected.error] : expected.error;
    const wanted = codes.includes('any') ? 'an error' : codes.join(' or ');
    if ('ok' in answer) return `expected ${wanted}, got acceptance: ${shortened(answer.ok)}`;
    return codes.includes('any') || codes.includes(answer.error) ? null : `expected ${wanted}, got ${answer.error}`;
  }
  if ('error' in answer) return `expected acceptance, got the error ${answer.error}`;
  const wrong = Object.entries(expected.ok).filter(([name, value]) => !same(value, answer.ok[name]));
  if (wrong.length === 0) return null;
  return wrong.map(([name, value]) => `${name}: expected ${shortened(value)}, got ${shortened(answer.ok[name])}`).join('; ');
}

/** Compares JSON values; the order of members does not matter. */
function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]));
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return left.length === right.size && left.every(([name, value]) => right.has(name) && same(value, right.get(name)));
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 120 ? text : `${text.slice(0, 117)}…`;
}
