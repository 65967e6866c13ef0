import type { StorageCaps, VersionedStorage, Write } from '../../../stdlib-tools/index.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { type ContractCase, check, refused } from './check.ts';

/** A write of a case. */
export const write = (key: string, expected: number, value: TaggedJson, more: Partial<Write> = {}): Write => ({
  scope: 'a',
  key,
  expected,
  value,
  ttlMs: null,
  at: 0,
  ...more,
});

/** What a write that exceeds a cap rejects with. */
const FULL = { code: 'NS37', nsCode: 37 };

/** Opens an empty storage for one case, with these bounds. */
export type OpenStorage = (caps?: StorageCaps) => Promise<VersionedStorage>;

const CASES: readonly { readonly name: string; run(open: OpenStorage): Promise<void> }[] = [
  {
    name: 'gives back what was written, under scopes and keys that are any text at all',
    run: async (open) => {
      const storage = await open();
      const names = [
        'k',
        'K',
        'k ',
        '',
        '\u0000',
        '\ud800',
        'é',
        'e\u0301',
        '%',
        "'; DROP TABLE entries",
        '"',
        '__proto__',
        '😀',
      ];
      for (const [index, name] of names.entries()) {
        check(await storage.cas(write(name, 0, { $$k: [index, null, '\u0000\udfff'] }))).equals({ ok: true, version: 1 });
        check(await storage.cas(write('k', 0, index, { scope: `s${name}` }))).equals({ ok: true, version: 1 });
      }
      for (const [index, name] of names.entries()) {
        check(await storage.get('a', name, 0)).equals({ value: { $$k: [index, null, '\u0000\udfff'] }, version: 1 });
        check(await storage.get(`s${name}`, 'k', 0)).equals({ value: index, version: 1 });
      }
      check(await storage.get('b', 'k', 0)).equals(null);
    },
  },
  {
    name: 'of many writers with the same version exactly one succeeds',
    run: async (open) => {
      const storage = await open();
      const written = await Promise.all(Array.from({ length: 50 }, (_, value) => storage.cas(write('k', 0, value))));
      check(written.filter(({ ok }) => ok)).equals([{ ok: true, version: 1 }]);
      check(written.filter(({ ok }) => !ok)).equals(Array.from({ length: 49 }, () => ({ ok: false, version: 1 })));
    },
  },
  {
    name: 'what has expired is gone, makes room also in scopes that nobody uses any more, and its version never comes back',
    run: async (open) => {
      const storage = await open({ entries: 1, scopes: 1 });
      check(await storage.cas(write('k', 0, 1, { ttlMs: 10 }))).equals({ ok: true, version: 1 });
      check(await storage.get('a', 'k', 9.5)).equals({ value: 1, version: 1 });
      check(await storage.get('a', 'k', 10)).equals(null);
      check(await storage.cas(write('k', 1, 2, { at: 10 }))).equals({ ok: false, version: 0 });
      check(await storage.cas(write('k', 0, 2, { scope: 'b', at: 10, ttlMs: 5 }))).equals({ ok: true, version: 2 });
      await refused(storage.cas(write('l', 0, 2, { scope: 'b', at: 10 })), FULL);
      check(await storage.cas(write('k', 0, 3, { at: 20 }))).equals({ ok: true, version: 3 });
    },
  },
  {
    name: 'lists the keys of a scope that have not expired, any text at all, in order',
    run: async (open) => {
      const storage = await open();
      for (const key of ['b', 'ä', '"', '\ud800', 'a', 'B']) await storage.cas(write(key, 0, 1));
      await storage.cas(write('gone', 0, 1, { ttlMs: 10 }));
      await storage.cas(write('other', 0, 1, { scope: 'b' }));
      check(await storage.keys('a', 9)).equals(['"', 'B', 'a', 'b', 'gone', 'ä', '\ud800']);
      check(await storage.keys('a', 10)).equals(['"', 'B', 'a', 'b', 'ä', '\ud800']);
      check(await storage.keys('none', 0)).equals([]);
    },
  },
  {
    name: 'what does not fit is code 37, and nothing is written',
    run: async (open) => {
      const storage = await open({ keyBytes: 4, entryBytes: 20, entries: 2, scopes: 2 });
      await refused(storage.cas(write('k', 0, 'x'.repeat(18))), FULL);
      await refused(storage.cas(write('kéé', 0, 1)), FULL);
      check(await storage.get('a', 'k', 0)).equals(null);
      check(await storage.cas(write('k', 0, 'x'.repeat(17)))).equals({ ok: true, version: 1 });
      await storage.cas(write('l', 0, 1));
      await refused(storage.cas(write('m', 0, 1)), FULL);
      check(await storage.cas(write('l', 1, 2))).equals({ ok: true, version: 2 });
      await storage.cas(write('k', 0, 1, { scope: 'b' }));
      await refused(storage.cas(write('k', 0, 1, { scope: 'c' })), FULL);
    },
  },
  {
    name: 'bounds the bytes of a scope and of all scopes; what is replaced or forgotten gives its bytes back',
    run: async (open) => {
      const storage = await open({ scopeBytes: 30, totalBytes: 50 });
      const ten = 'x'.repeat(7);
      await storage.cas(write('1', 0, ten));
      await storage.cas(write('2', 0, ten));
      await storage.cas(write('3', 0, ten));
      await refused(storage.cas(write('4', 0, 1)), FULL);
      await storage.cas(write('1', 0, ten, { scope: 'b' }));
      await storage.cas(write('2', 0, ten, { scope: 'b' }));
      await refused(storage.cas(write('1', 0, 1, { scope: 'c' })), FULL);
      check(await storage.cas(write('1', 1, 1))).equals({ ok: true, version: 2 });
      check(await storage.cas(write('1', 0, 1, { scope: 'c' }))).equals({ ok: true, version: 1 });
      await storage.forget('b');
      check(await storage.get('b', '1', 0)).equals(null);
      check((await storage.cas(write('1', 0, ten, { scope: 'b' }))).version > 1).equals(true);
    },
  },
  {
    name: 'answers the repetition of the last writing call as the first time',
    run: async (open) => {
      const storage = await open();
      const call = { call: 's:1:4' };
      check(await storage.cas(write('k', 0, 1, call))).equals({ ok: true, version: 1 });
      check(await storage.cas(write('k', 0, 1, call))).equals({ ok: true, version: 1 });
      check(await storage.cas(write('k', 1, 2, { call: 's:1:5' }))).equals({ ok: true, version: 2 });
      check(await storage.cas(write('k', 0, 1, call))).equals({ ok: false, version: 2 });
    },
  },
];

/** What every storage of tool values does: each case opens storages of its own. */
export function storageContract(open: OpenStorage): readonly ContractCase[] {
  return CASES.map(({ name, run }) => ({ name, run: () => run(open) }));
}
