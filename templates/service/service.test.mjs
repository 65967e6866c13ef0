import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { createService } from './service.mjs';

let service;
const post = (payload) => service.inject({ method: 'POST', url: '/run', payload });
before(async () => {
  service = await createService();
});
after(() => service.close());

test('a program runs', async () => {
  const answer = await post({ id: 1, src: readFileSync(new URL('order.ns', import.meta.url), 'utf8') });
  equal(answer.statusCode, 200);
  deepEqual(answer.json().emits, ['left out: we do not sell gold', 'total: 15']);
});

test('a program without end is stopped', async () => {
  const answer = await post({ src: 'command\n  while true\n    set x = 1\n  endwhile\nendcommand', limits: { fuel: 10_000 } });
  const { ok, error } = answer.json();
  deepEqual([ok, error.code, error.limit], [false, 'ERR_QUOTA', 'fuel']);
});

test('what the policy does not name is denied', async () => {
  const answer = await post({ src: 'command\n  emit tool.fs.Read("/etc/passwd")\nendcommand' });
  equal(answer.json().ok, false);
});
