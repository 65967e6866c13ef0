// @module-tag slow
import { expect, it } from 'vitest';
import { demonstrate } from '../cli/demonstration.ts';

it('issue 20: the demonstration of a cluster starts a server, kills and restarts it, and keeps every promise', async () => {
  const { code, kept, said } = await demonstrate(12);
  expect({ code, kept, said }).toEqual({ code: 0, kept: 6, said: expect.stringContaining('the database server runs again') });
});
