// @module-tag slow
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresStorage, PostgresStore } from '../../src/postgres/index.ts';
import { misjudged } from '../entrances/judge.ts';
import { openStage, PROBES, type Stage } from '../entrances/probes.ts';
import { STORED } from '../entrances/sessionprobes.ts';
import { pglite } from './kit.ts';

describe('issue 44: a value that enters is refused with a code and its place, or kept exactly, by PGlite', () => {
  let server: Awaited<ReturnType<typeof pglite>>;
  let stage: Stage;
  beforeAll(async () => {
    server = await pglite();
    const [store, storage] = [await PostgresStore.open(server), await PostgresStorage.open(server)];
    stage = await openStage(store, storage);
  });
  afterAll(async () => {
    await stage[Symbol.asyncDispose]();
    await server.close();
  });

  it.each(Object.entries(STORED))('%s', async (place, probe) => {
    expect(await misjudged(probe, stage, !(place in PROBES))).toEqual([]);
  });
});
