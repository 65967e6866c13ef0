// @module-tag slow
import { expect, it } from 'vitest';
import { demonstrate } from './demonstration.ts';

it('issue 20: the demonstration of a cluster kills a host, drains one, and keeps every promise', async () => {
  const { code, kept, said } = await demonstrate(8, '--sqlite');
  expect({ code, kept, said }).toEqual({ code: 0, kept: 6, said: expect.not.stringContaining('BROKEN') });
}, 120_000);
