import { equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadPolicy } from 'neuroscript-runtime';
import { callTool, runScript } from 'neuroscript-runtime/testing';
import { tools } from './tools.mjs';

const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const [price] = tools;

test('a price is known', async () => {
  equal(await callTool(price, ['tea']), 3.5);
});

test('the program adds what is sold and reports what is not', async () => {
  const run = await runScript(read('order.ns'), { tools, policy: loadPolicy(read('policy.yaml'), 'policy.yaml') });
  run.expectOk().expectEmits('left out: we do not sell gold', 'total: 15').expectFuel({ atMost: 2_000 });
});

test('a program cannot order more often than the policy allows', async () => {
  const policy = loadPolicy(read('policy.yaml'), 'policy.yaml');
  const run = await runScript('for each n in [1, 2, 3]\n  emit tool.shop.Order("tea", n)\nendfor', { tools, policy });
  run.expectError(1003);
});
