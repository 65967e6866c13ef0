import { equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { callTool } from 'neuroscript-runtime/testing';
import { tools } from './tools.mjs';

const [price] = tools;

test('a price is known', async () => {
  equal(await callTool(price, ['tea']), 3.5);
});

test('what is not sold has no price', async () => {
  await rejects(callTool(price, ['gold']), /we do not sell gold/);
});
