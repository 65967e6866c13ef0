import { describe, expect, it } from 'vitest';
import { rootTurn } from '../../src/context/turn.ts';
import { type SessionAccess, SessionStorage } from '../../src/tools/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';

const root = rootTurn(() => 0);
const turnOf = (sessionId: string, turnIndex = 1) => root.derive({ sessionId, turnIndex });

describe('storage of one session', () => {
  it('A3-11.1-5: what is written under one session does not exist for another, and outlives its turn', () => {
    const storage = new SessionStorage<number>();
    storage.own(turnOf('a', 1)).set('k', 1);
    expect(storage.own(turnOf('b', 1)).get('k')).toBeUndefined();
    storage.own(turnOf('b', 1)).set('k', 2);
    expect(storage.own(turnOf('a', 2)).get('k')).toBe(1);
    storage.end('a');
    expect(storage.own(turnOf('a', 3)).get('k')).toBeUndefined();
    expect(storage.own(turnOf('b', 2)).get('k')).toBe(2);
  });

  it('A3-11.2-3 AL3-3-4: another session is out of reach by default, and every attempt is recorded', () => {
    const seen: SessionAccess[] = [];
    const storage = new SessionStorage<number>({ audit: (access) => seen.push(access) });
    expect(() => storage.of(turnOf('b', 4), 'a')).toThrow(expect.objectContaining({ nsCode: 1003 }));
    expect(() => new SessionStorage().of(turnOf('b'), 'a')).toThrow(expect.objectContaining({ nsCode: 1003 }));
    expect(seen).toEqual([{ sessionId: 'b', turnIndex: 4, target: 'a', allowed: false }]);
  });

  it('A3-11.2-3: where the host allows it, it leaves a record too', () => {
    const seen: SessionAccess[] = [];
    const allow = ({ sessionId }: { sessionId: string }): boolean => sessionId === 'admin';
    const storage = new SessionStorage<number>({ allow, audit: (access) => seen.push(access) });
    storage.own(turnOf('a')).set('k', 1);
    expect(storage.of(turnOf('admin', 7), 'a').get('k')).toBe(1);
    expect(() => storage.of(turnOf('b'), 'a')).toThrow(expect.objectContaining({ nsCode: 1003 }));
    expect(seen.map(({ sessionId, target, allowed }) => [sessionId, target, allowed])).toEqual([
      ['admin', 'a', true],
      ['b', 'a', false],
    ]);
  });

  it('the own session needs neither permission nor record', () => {
    const seen: SessionAccess[] = [];
    const storage = new SessionStorage<number>({ audit: (access) => seen.push(access) });
    const turn = turnOf('a');
    expect(storage.of(turn, 'a')).toBe(storage.own(turn));
    expect(seen).toEqual([]);
  });

  it('outside of a session there is nothing; too many sessions are refused, ended ones make room', () => {
    const storage = new SessionStorage<number>({ maxSessions: 1 });
    expect(() => storage.own(root)).toThrow(expect.objectContaining({ nsCode: 19 }));
    storage.own(turnOf('a'));
    expect(() => storage.own(turnOf('b'))).toThrow(expect.objectContaining({ nsCode: 37 }));
    storage.end('a');
    expect(storage.own(turnOf('b')).size).toBe(0);
  });

  it('AL3-3-4: only `true` opens another session: a promise, which is true in itself, does not', () => {
    const seen: boolean[] = [];
    const audit = ({ allowed }: SessionAccess): number => seen.push(allowed);
    for (const answer of [Promise.resolve(false), Promise.resolve(true), 1, 'yes', {}, undefined, null]) {
      const storage = new SessionStorage({ allow: () => answer as never, audit });
      expect(() => storage.of(turnOf('b'), 'a')).toThrow(expect.objectContaining({ nsCode: 1003 }));
    }
    expect(seen).toEqual(Array.from({ length: 7 }, () => false));
  });

  it('cannot be opened without a record, or without a bound, or with options that it does not have', () => {
    expect(() => new SessionStorage({ alow: () => true } as never)).toThrow(/unknown key 'alow' in the options of a storage/);
    expect(() => new SessionStorage({ audit: 5 as never })).toThrow(/audit must be a function/);
    expect(() => new SessionStorage({ allow: () => true })).toThrow(ConfigError);
    for (const maxSessions of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => new SessionStorage({ maxSessions })).toThrow(ConfigError);
  });
});
