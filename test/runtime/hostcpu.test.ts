import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { defineTool } from '../../src/tools/index.ts';

/** Computes until this thread has used so much CPU time. */
function compute(ms: number): void {
  const before = process.threadCpuUsage();
  for (;;) {
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= ms * 1000) return;
  }
}

const args = [{ name: 'ms', type: 'int' }] as const;
const tools = [
  defineTool({ name: 'tool.t.Compute', args, run: ({ ms }) => compute(ms) }),
  defineTool({
    name: 'tool.t.Throw',
    args,
    run({ ms }) {
      compute(ms);
      throw new Error('no');
    },
  }),
  defineTool({ name: 'tool.t.Nested', args, run: ({ ms }, runtime) => runtime.callTool('tool.t.Compute', [ms]) }),
];

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools, policy: { allow: ['*'] }, concurrency: 1 });
});
afterAll(() => runtime.close());

const run = (body: string, cpuMs: number) => runtime.run(`command\n${body}\nendcommand`, { limits: { cpuMs } });

it.each(['Compute', 'Nested'])(
  'issue 44, finding 2: what tool.t.%s computes before it waits counts as CPU time of the program',
  async (name) => {
    const { ok, usage } = await run(`call tool.t.${name}(40)\ncall tool.t.${name}(40)`, 5000);
    expect(ok).toBe(true);
    expect(usage.cpuMs).toBeGreaterThanOrEqual(80);
  },
);

it.each([
  ['one after another', 'call tool.t.Compute(60)\ncall tool.t.Compute(60)\nemit "on"'],
  ['together', 'together\ncall tool.t.Compute(60)\ncall tool.t.Compute(60)\nendtogether\nemit "on"'],
  ['by tools', 'call tool.t.Nested(120)\nemit "on"'],
  ['and fail', 'call tool.t.Throw(120)'],
])('issue 44, finding 2: the program ends when its tools have computed for longer than it may: %s', async (_, body) => {
  const { ok, error, emits } = await run(body, 100);
  expect([ok, emits]).toEqual([false, []]);
  expect(error).toMatchObject({ code: 'ERR_QUOTA', limit: 'cpuMs', allowed: 100 });
  expect(error?.used).toBeGreaterThanOrEqual(120);
});
