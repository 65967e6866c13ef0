import { z } from 'zod';
import type { SessionsEngine } from './engine.ts';
import type { HostRegistry } from './fleet.ts';
import { listOf } from './rows.ts';
import type { Statements } from './statements.ts';

export function hostsIn(
  { sql }: Pick<SessionsEngine, 'sql'>,
  statements: Pick<Statements, 'beat' | 'forgetGone' | 'hosts' | 'forgetHost'>,
): HostRegistry {
  return {
    async beat({ instance, owner, kids }, ms) {
      await sql.query(statements.beat, instance, owner, JSON.stringify(kids), Math.floor(ms));
      await sql.query(statements.forgetGone, instance, owner);
    },
    async leave(instance) {
      await sql.again(statements.forgetHost, instance);
    },
    async list() {
      const rows = await sql.again(statements.hosts);
      return rows.map(({ instance, owner, kids, until, lives }) => ({
        instance: String(instance),
        owner: String(owner),
        kids: listOf(kids, z.string(), `the keys of host ${owner}`),
        until: Number(until),
        lives: Number(lives) === 1,
      }));
    },
  };
}
