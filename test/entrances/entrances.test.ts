import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runInPage } from '../../src/browser/engine.ts';
import { MemoryStore, SqliteStore } from '../../src/loop/index.ts';
import { MemoryStorage, SqliteStorage } from '../../stdlib-tools/index.ts';
import { tempFolder } from '../folder.ts';
import { CLOSED, TEXTS, tokensOf } from './closed.ts';
import { isRaw, misjudged, outcome } from './judge.ts';
import { openStage, PROBES, type Stage } from './probes.ts';
import { OTHER_PROBES, SESSION_PROBES, STORED } from './sessionprobes.ts';
import { REFUSED, WRONG } from './wrong.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(new MemoryStore(), new MemoryStorage());
});
afterAll(() => stage[Symbol.asyncDispose]());

describe('issue 44: a value that enters is refused with a code and its place, or kept exactly', () => {
  it.each(Object.entries({ ...PROBES, ...SESSION_PROBES, ...OTHER_PROBES }))('%s', async (place, probe) => {
    expect(await misjudged(probe, stage, !(place in PROBES))).toEqual([]);
  });

  describe('from a store in a SQLite file', () => {
    const folder = tempFolder();
    let stored: Stage;
    beforeAll(async () => {
      const [store, storage] = [await SqliteStore.open(join(folder, 's.db')), await SqliteStorage.open(join(folder, 'v.db'))];
      stored = await openStage(store, storage);
    });
    afterAll(() => stored[Symbol.asyncDispose]());

    it.each(Object.entries(STORED))('%s', async (place, probe) => {
      expect(await misjudged(probe, stored, !(place in PROBES))).toEqual([]);
    });
  });

  it.each([
    ['id', (value: unknown) => typeof value === 'string'],
    ['ts', (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= 0],
  ] as const)('the %s of an event, in a page as elsewhere', async (part, isRight) => {
    const eventOf = (value: unknown) => [{ name: 'e', source: 's', payload: null, [part]: value }];
    const { runtime } = stage;
    const sends = [
      (value: unknown) => runInPage('', { events: eventOf(value) as never }),
      (value: unknown) =>
        runtime
          .interpreter()
          .fork()
          .runRequest({ sources: [], events: eventOf(value) as never }),
    ];
    for (const send of sends) {
      const taken: unknown[] = [];
      for (const { make } of WRONG) if ((await outcome(send, make())) !== REFUSED) taken.push(make());
      expect(taken).toEqual(WRONG.map(({ make }) => make()).filter((value) => value === undefined || isRight(value)));
    }
  });
});

describe('issue 44: a form refuses a wrong value with a code', () => {
  it.each(Object.entries(CLOSED))('%s', async (_place, send) => {
    const found = await Promise.all(WRONG.map(async ({ name, make }) => [name, await outcome(send, make())]));
    expect(found.filter(([, each]) => isRaw(each))).toEqual([]);
  });

  it.each(Object.entries(TEXTS))('in text: %s', async (_what, [read, ...keys]) => {
    const wrong = WRONG.flatMap(({ becomes: { json: value } }) => (value === REFUSED ? [] : [value]));
    const texts = [...wrong, ...keys.flatMap((key) => wrong.map((value) => ({ [key]: value })))].map((value) =>
      JSON.stringify(value),
    );
    const found = await Promise.all([...texts, ...BROKEN].map(async (text) => [text, await outcome(() => read(text), text)]));
    expect(found.filter(([, each]) => isRaw(each))).toEqual([]);
  });

  it.each(['tokens', 'inputTokens', 'outputTokens'] as const)(
    'finding 8: a count of %s that is none is not nothing',
    async (part) => {
      const none = WRONG.filter(({ name }) => !COUNTS.has(name)).map(({ make }) => make());
      const counted = await Promise.all([...none, -1, '5', 1e300].map((count) => tokensOf(count, part)));
      expect(counted.filter((tokens) => !(Number.isSafeInteger(tokens) && tokens > 0))).toEqual([]);
    },
  );
});

/** Values that are counts of tokens, or are the count 0. */
const COUNTS = new Set(['-0', 'the smallest number']);

/** Texts that are no JSON. */
const BROKEN = [
  '',
  ' ',
  '{',
  '[',
  '"',
  'NaN',
  'undefined',
  '{"a":1,}',
  '{"a":1}{',
  '\u0000',
  '"\\ud800"',
  '\ufeff{}',
  '{"a":1,"a":2}',
  '1e999',
  '-',
];
