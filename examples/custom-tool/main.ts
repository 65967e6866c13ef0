import { readFileSync } from 'node:fs';
import { createRuntime, defineTool, ToolError } from 'neuroscript-runtime';
import { z } from 'zod';

const prices = new Map([
  ['tea', 3.5],
  ['coffee', 4],
]);

const price = defineTool({
  name: 'tool.shop.Price',
  description: 'Price of a number of items, in euros.',
  args: { item: z.string(), count: z.int().positive().default(1) },
  effects: 'read',
  run({ item, count }, { turn, logger }) {
    const each = prices.get(item);
    if (each === undefined) throw new ToolError(9, `we do not sell ${item}`);
    logger.info({ session: turn.sessionId }, `${count} ${item}`);
    return each * count;
  },
});

await using runtime = await createRuntime({ tools: [price], policy: { allow: ['tool.shop.*'] } });
const result = await runtime.run(readFileSync(new URL('order.ns', import.meta.url), 'utf8'), { name: 'order.ns' });
for (const text of result.emits) process.stdout.write(`${text}\n`);
if (result.error !== null) process.stdout.write(`${result.error.code}: ${result.error.message}\n`);
