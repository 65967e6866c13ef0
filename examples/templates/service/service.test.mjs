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

test('what a program emits is streamed before its result', async () => {
  const payload = { src: 'command\n  emit "one"\n  emit "two"\nendcommand' };
  const { headers, body } = await service.inject({ method: 'POST', url: '/stream', payload });
  equal(headers['content-type'], 'text/event-stream');
  const events = body
    .trimEnd()
    .split('\n\n')
    .map((event) => event.split('\n'));
  deepEqual(events.slice(0, 2), [
    ['event: emit', 'data: "one"'],
    ['event: emit', 'data: "two"'],
  ]);
  deepEqual(JSON.parse(events[2][1].slice('data: '.length)).emits, ['one', 'two']);
});

test('a client that leaves cancels its program', async () => {
  // No limit ends this program in time.
  const patient = await createService({ limits: { cpuMs: 600_000, wallMs: 600_000, fuel: 1e15 } });
  const url = `${await patient.listen({ host: '127.0.0.1', port: 0 })}/stream`;
  const client = new AbortController();
  const body = JSON.stringify({ src: 'command\n  emit "begun"\n  while true\n    set x = 1\n  endwhile\nendcommand' });
  const headers = { 'content-type': 'application/json' };
  const { body: events } = await fetch(url, { method: 'POST', headers, body, signal: client.signal });
  await events.getReader().read();
  equal(patient.runtime.stats().computing, 1);
  client.abort();
  while (patient.runtime.stats().computing > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await patient.close();
});

test('what is no tenant is refused', async () => {
  const answer = await service.inject({ method: 'POST', url: '/run', payload: { src: '' }, headers: { 'x-tenant': 'a b' } });
  equal(answer.statusCode, 400);
});
