import { describe, expect, it } from 'vitest';
import type { LimitOptions } from '../../src/sandbox/limits.ts';
import { drive } from './driver.ts';

// A key in brackets is the same key, but the compiler takes it for one that is known only when the program runs.

/** What a program does that makes 300 maps of keys that are written this way. */
function done(key: (text: string) => string, limits: LimitOptions) {
  const entries = ['id: i', 'name: "n" + i', 'tags: [i, {"deep": i}]'].map((entry) =>
    entry.replace(/^\w+/, (name) => key(`"${name}"`)),
  );
  const source = [
    'command',
    'set all = []',
    'set i = 0',
    'while i < 300',
    `set m = {${entries.join(', ')}}`,
    `set all[i] = [m[${key('"name"')}], m[${key('"none"')}], m]`,
    'set i = i + 1',
    'endwhile',
    'emit all',
    `emit "text"[${key('"name"')}]`,
    'endcommand',
  ];
  const { emits, fuel, peakMemoryBytes, error } = drive(source.join('\n'), { limits });
  return { emits, fuel, peakMemoryBytes, code: error?.code, line: error?.line, message: error?.message, used: error?.used };
}

describe('a map literal whose keys are known', () => {
  it.each<LimitOptions>([
    {},
    ...[1, 7, 2000, 2900, 3100].map((fuel) => ({ fuel })),
    ...[100_000, 200_000, 300_000].map((memoryBytes) => ({ memoryBytes })),
    { valueBytes: 900 },
    { valueBytes: 40_000 },
    { valueDepth: 2 },
    { mapLength: 2 },
    { textLength: 3 },
  ])('does what one does whose keys are worked out, for the same fuel and memory: %o', (limits) => {
    expect(done((text) => text, limits)).toEqual(done((text) => `(${text})`, limits));
  });
});
