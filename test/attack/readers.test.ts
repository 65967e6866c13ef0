import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { readWorkerFrame } from '../../src/sandbox/workerframes.ts';
import { WireError } from '../../src/wire/errors.ts';
import { parseFrame } from '../../src/wire/frames.ts';
import { SLOW } from '../groups.ts';
import { FRAMES, FULL_RESULT } from './frames.ts';

/** Values of every type of JSON, one of them beyond its numbers. */
const VALUES = ['null', 'true', '7', '-1', '0.5', '1e999', '"x"', '[]', '[7]', '{"x":7}'];
/** Fields that hold values of scripts, which may have any form. */
const FREE = /(^|\.)(value|values|args|prompt|options|result\.result)(\.|$)/;
/** Types of JSON that no reader takes for another. */
const DISTINCT = 4;

/** Each frame as a worker sends it. The reader itself says that the calls of a list are calls of tools, and which of them is the first. */
const SAMPLES = [...Object.values(FRAMES), FULL_RESULT].map(
  (frame) => [frame.t, JSON.stringify(frame.t === 'together' ? withoutImplied(frame) : frame), frame] as const,
);

function withoutImplied({ t, calls }: typeof FRAMES.together): object {
  return { t, calls: calls.map(({ seq, name, args, at: { together: _, ...at } }) => ({ seq, name, args, at })) };
}

describe.each(SAMPLES)('18: every field of %s is read: %s', (_type, text, frame) => {
  it('as it is', () => {
    expect(readWorkerFrame(parseFrame(text))).toEqual(frame);
  });

  it.each([...pathsIn(JSON.parse(text), [])].map((path) => path.join('.')))('%s', (name) => {
    const path = name.split('.');
    if (FREE.test(name)) return;
    const refused = VALUES.filter((value) => isRefused(replaced(text, path, value)));
    // A field takes one or two types of values. An error may be null and a success has none, so both forms are in the samples.
    expect(refused.length).toBeGreaterThanOrEqual(DISTINCT);
  });
});

/** Whether a frame is refused. Any other failure is a defect of the reader. */
function isRefused(text: string): boolean {
  try {
    readWorkerFrame(parseFrame(text));
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(WireError);
    return true;
  }
}

function* pathsIn(value: unknown, path: readonly string[]): Generator<readonly string[]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    yield [...path, name];
    yield* pathsIn(item, [...path, name]);
  }
}

/** A frame with another JSON text in the place of one field. */
function replaced(text: string, path: readonly string[], json: string): string {
  const frame: unknown = JSON.parse(text);
  const parent = path.slice(0, -1).reduce<unknown>((at, name) => Reflect.get(Object(at), name), frame);
  Reflect.set(Object(parent), path.at(-1) ?? '', '$value');
  return JSON.stringify(frame).replace('"$value"', json);
}

it('18: a text that is cut does not keep the rest of it alive', SLOW, () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const held = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const long = 2 ** 22;
  const before = held();
  const read = Array.from({ length: 16 }, (_, seq) => {
    const source = 'x'.repeat(long) + seq;
    const call = JSON.stringify({ ...FRAMES.tool, at: { ...FRAMES.tool.at, source } });
    const probe = JSON.stringify({ ...FRAMES.probe, frames: [{ kind: 'tool', name: source, source, line: 1 }] });
    return [call, probe].map((text) => readWorkerFrame(parseFrame(text)));
  });
  const growth = held() - before;
  expect(read).toHaveLength(16);
  expect(growth).toBeLessThan(2 * long);
});
