import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { expect } from 'vitest';
import { ChainWalk, type SessionSummary } from '../../../src/loop/index.ts';
import type { Bench } from './bench.ts';
import type { Belonging, ShopRequest } from './plan.ts';

/** How a session must have ended. */
export type End = 'DONE' | `HALT ${string}`;

/**
 * Judges what hosts have left behind by the store, the decision log and the shop alone: every session ended as `endOf` says, nothing is
 * left to do, every turn is stored once and logged once in one chain, no order was made twice, and one host at a time acted for a session.
 */
export async function judge(bench: Bench, endOf: (session: SessionSummary) => End): Promise<void> {
  const sessions = await bench.store.list();
  const turns: string[] = [];
  for (const session of sessions) {
    const { sid, reason, status } = session;
    const records = await bench.store.turns(sid);
    expect(
      records.map(({ turn }) => turn),
      `turns of ${sid}`,
    ).toEqual(records.map((_, index) => index + 1));
    turns.push(...records.map(({ turn }) => `${sid} ${turn}`));
    // A session that was halted between two turns has an entry in the log, and no turn.
    if (status === 'halted' && records.at(-1)?.decision !== 'HALT') turns.push(`${sid} ${records.length + 1}`);
    const end = status === 'done' ? 'DONE' : `HALT ${reason}`;
    expect({ sid, end }).toEqual({ sid, end: endOf(session) });
    expect(session).toMatchObject({ sid, lease: null, started: null, waits: null, owed: 0, damaged: null });
  }
  await judgeLog(bench, turns);
  expect(actsOutOfOrder(bench.shop.requests())).toEqual([]);
  expect(bench.shop.orders()).toHaveLength(await bench.expectedOrders());
}

/**
 * Judges what tools have kept for sessions by what they noted: everything that was made in a process was given back there, once. A
 * directory notes no end: it must be gone.
 */
export function judgeBelongings(bench: Bench, least: number): void {
  const noted = bench.shop.belongings();
  const keysOf = (wanted: Belonging['what']): readonly string[] =>
    noted.flatMap(({ owner, sid, id, what }) => (what === wanted && !isAbsolute(id) ? [`${owner} ${sid} ${id}`] : [])).sort();
  expect(keysOf('made').length).toBeGreaterThanOrEqual(least);
  expect(keysOf('given back')).toEqual(keysOf('made'));
  const folders = new Map(noted.flatMap(({ id, sid }) => (isAbsolute(id) ? [[id, sid]] : [])));
  expect(new Set(folders.values()).size).toBe(new Set(noted.map(({ sid }) => sid)).size);
  expect([...folders.keys()].filter((folder) => existsSync(folder))).toEqual([]);
  const shared = noted.filter(({ id, sid }) => folders.has(id) && folders.get(id) !== sid);
  expect(shared).toEqual([]);
}

async function judgeLog(bench: Bench, turns: readonly string[]): Promise<void> {
  const walk = new ChainWalk();
  const logged: string[] = [];
  for (const text of await bench.logLines()) {
    expect(walk.next(text)).toBe(null);
    expect(walk.again).toBe(null);
    const { SID, turn_index } = JSON.parse(text);
    logged.push(`${SID} ${turn_index}`);
  }
  expect(logged.sort()).toEqual([...turns].sort());
}

/** Requests of a host after a later claim of the session has acted, or under the claim of another host. */
function actsOutOfOrder(requests: readonly ShopRequest[]): readonly string[] {
  const last = new Map<string, ShopRequest>();
  return requests.flatMap((request) => {
    const before = last.get(request.sid);
    last.set(request.sid, request);
    if (before === undefined || before.fence < request.fence) return [];
    if (before.fence === request.fence && before.owner === request.owner && before.turn <= request.turn) return [];
    return [`${request.owner} acted for ${request.sid} under claim ${request.fence} after ${before.owner} under ${before.fence}`];
  });
}
