// @module-tag slow
import { expect, it } from 'vitest';
import { createRuntime } from '../../src/runtime/index.ts';
import { pureTools } from '../../stdlib-tools/index.ts';
import { ALL } from '../stdlib-tools/call.ts';

/** Ways to a small text out of a large one, `big`: 1 MB that begin with 2000 times `a`, then a comma. */
const WAYS = [
  'tool.str.Substring(big, 0, 2000)',
  'tool.list.Head(tool.str.Split(big, ","))',
  'tool.str.TrimSuffix(tool.str.Substring(big, 0, 2001), ",")',
  'tool.list.Head(tool.regex.FindAll("a+", big, 1))',
  'tool.str.Replace(big, tool.str.Substring(big, 2000, 2000000), "", 1)',
  'tool.template.Render(tool.str.Substring(big, 0, 2000) + "{{x}}", {"x": ""})',
  'tool.list.Head(tool.json.Parse("[\\"" + tool.str.Substring(big, 0, 2000) + "\\"," + "1,"*100000 + "1]"))',
];

it('a small part of a large text does not keep the large one alive: what is charged is what is held', {
  timeout: 300_000,
}, async () => {
  await using runtime = await createRuntime({
    tools: pureTools(),
    policy: ALL,
    concurrency: 1,
    limits: { fuel: 1e10, cpuMs: 60_000, wallMs: 120_000, memoryBytes: 16 * 1024 * 1024 },
  });
  for (const way of WAYS) {
    const source = [
      'command',
      'set kept = []',
      // So many of the large texts are more than the isolate's heap can hold.
      'while len(kept) < 60',
      '  set big = "a"*2000 + "," + ("b" + char(48 + len(kept)))*500000',
      `  set kept[len(kept)] = ${way}`,
      'endwhile',
      'emit len(kept[59])',
      'endcommand',
    ].join('\n');
    const { emits, error } = await runtime.run(source);
    expect([way, error, emits]).toEqual([way, null, ['2000']]);
  }
});
