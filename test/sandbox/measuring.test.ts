import { afterAll, describe, expect, it } from 'vitest';
import type { LimitOptions } from '../../src/sandbox/index.ts';
import { Measuring } from '../../src/sandbox/measuring.ts';
import type { HeatFrame } from '../../src/wire/heat.ts';
import type { ProbeFrame, RunInput } from '../../src/wire/protocol.ts';
import { closeSandboxes, handlers, inputOf, rogue, run, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

const RUN: HeatFrame = { kind: 'host', name: 'run', source: null, line: null };
const SET: HeatFrame = { kind: 'statement', name: 'set', source: 'src', line: 2 };

function part(fields: Partial<ProbeFrame>): ProbeFrame {
  return { t: 'probe', frames: [], marks: [], nodes: [], spent: [], ...fields };
}

const END = { steps: 1, unmarked: 0, folded: 0, step: null };
const FRAMES = part({ frames: [RUN, SET] });
const many = (count: number, row: readonly number[]): number[] => Array.from({ length: count }, () => row).flat();

function measured(limits: LimitOptions = {}): RunInput {
  return { ...inputOf('raw', {}, limits), probe: { trace: true } };
}

/** What no interpreter says, and why it is refused. */
const LIES: readonly (readonly [what: string, parts: readonly ProbeFrame[], why: RegExp])[] = [
  ['an empty part', [part({})], /is empty/],
  ['more frames than the limit', [part({ frames: Array.from({ length: 17 }, () => SET) })], /more than 16 frames/],
  ['more nodes than the limit', [FRAMES, part({ nodes: many(17, [0, 0, 1, 1, 1]) })], /more than 16 nodes/],
  ['more marks than the limit', [FRAMES, part({ marks: many(17, [1, 0, 0, -1, 0, 0]) })], /more than 16 events/],
  ['more lines than frames', [FRAMES, part({ spent: many(3, [1, 1, 1, 1]) })], /counts more than its frames/],
  ['a frame that was not sent', [FRAMES, part({ marks: [2, 0, 0] })], /no frame 2/],
  ['a node of no frame', [FRAMES, part({ nodes: [-1, 0, 1, 1, 1] })], /no frame -1/],
  ['a node before the one around it', [FRAMES, part({ nodes: [0, 0, 1, 0, 0, 1, 1, 1, 0, 0] })], /stands before node 1/],
  ['an end without a begin', [FRAMES, part({ marks: [-1, 0, 0] })], /ends what has not begun/],
  ['time that runs back', [FRAMES, part({ marks: [1, -1, 0] })], /negative/],
  ['negative fuel', [FRAMES, part({ nodes: [0, 0, 1, -1, 0] })], /negative/],
  ['a list that is cut off', [FRAMES, part({ spent: [1, 1] })], /rows of 4/],
  ['a part after the last one', [part({ frames: [RUN], end: END }), FRAMES], /after the last/],
];

describe('what a worker says of a measured run', () => {
  it.each(LIES)('is refused: %s', (_what, parts, why) => {
    const measuring = new Measuring(measured({ traceEvents: 16 }));
    for (const each of parts.slice(0, -1)) measuring.add(each);
    expect(() => measuring.add(parts.at(-1) ?? FRAMES)).toThrow(why);
  });

  it('may not be more fuel than the run used; what it lacks is outside of all lines', () => {
    const measuring = new Measuring(measured());
    measuring.add(part({ ...FRAMES, nodes: [0, 0, 1, 1, 0, 1, 0, 1, 6, 0], spent: [1, 1, 6, 0], end: END }));
    expect(() => measuring.check(6)).toThrow(/more than the 6 of the run/);
    measuring.check(7);
    const { heat } = measuring.profile(10);
    expect(heat).toMatchObject({ fuel: 10, outside: { fuel: 4 }, lines: [{ line: 2, fuel: 6 }], notices: [] });
    expect(heat.flame.nodes.map(({ fuel }) => fuel)).toEqual([4, 6]);
  });

  it('says that it is missing when the worker ended before', () => {
    const { heat, trace } = new Measuring(measured()).profile(5);
    expect(heat).toMatchObject({ fuel: 5, outside: { fuel: 5 }, lines: [], flame: { frames: [RUN] } });
    expect(heat.notices).toEqual(['the worker was ended before it reported where the run spent its fuel']);
    expect(trace?.marks).toHaveLength(0);
  });

  it('is summed up without recursion, however long a path is', () => {
    const measuring = new Measuring(measured({ traceEvents: 100_000 }));
    measuring.add(FRAMES);
    const nodes = Array.from({ length: 100_000 }, (_, index) => [index === 0 ? 0 : 1, Math.max(0, index - 1), 1, 1, 1]);
    measuring.add(part({ nodes: nodes.flat(), spent: [1, 99_999, 99_999, 0], end: END }));
    expect(measuring.profile(100_000).heat).toMatchObject({ fuel: 100_000, lines: [{ total: { fuel: 99_999 } }] });
  });
});

describe('a worker that lies in the frames of its probe', () => {
  const started = { frame: { t: 'started', id: 1 } };

  it.each([
    ['a frame of no run that is measured', false, FRAMES],
    ['a frame that is not in the form', true, { ...FRAMES, marks: ['x'] }],
    ['an endless kind', true, { ...FRAMES, frames: [{ ...SET, kind: 'x'.repeat(1e5) }] }],
    ['a node of nothing', true, part({ nodes: [5, 0, 1, 1, 1] })],
    [
      'a step with too many forks',
      true,
      {
        ...FRAMES,
        end: {
          ...END,
          step: {
            ...{ step: 1, source: 's', line: 1, column: 1, visit: 1, fuel: 0, more: 0 },
            stack: Array.from({ length: 101 }, () => ({ name: 'f', source: 's', line: 1, variables: [], more: 0 })),
          },
        },
      },
    ],
  ])('is killed: %s', async (_what, isMeasured, frame) => {
    const sandbox = await sandboxOf({ files: rogue({ run: [started, { frame }] }) });
    const { probe, ...plain } = measured();
    const { result } = await sandbox.run(isMeasured ? { ...plain, probe } : plain, handlers());
    expect(result.error).toMatchObject({ code: 'ERR_WORKER', message: expect.stringMatching(/broke the protocol/) });
    expect(sandbox.boundaryBreaches).toBe(1);
  });

  it('cannot send one through the isolate of a run that is not measured', async () => {
    const sandbox = await sandboxOf();
    const { result } = await run(sandbox, 'raw', { frames: [JSON.stringify(FRAMES)] });
    expect(result.error?.message).toMatch(/sent a frame 'probe' where none such may come/);
  });
});
