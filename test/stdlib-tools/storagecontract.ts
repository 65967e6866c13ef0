import { describe, expect, it } from 'vitest';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import type { StorageCaps, VersionedStorage, Write } from '../../stdlib-tools/index.ts';

/** A write of a test. */
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
export const FULL = { code: 'NS37', nsCode: 37 };

/** What every storage of tool values does. */
export function storageContract(name: string, open: (caps?: StorageCaps) => Promise<VersionedStorage>): void {
  describe(name, () => {
    it('gives back what was written, under scopes and keys that are any text at all', async () => {
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
        expect(await storage.cas(write(name, 0, { $$k: [index, null, '\u0000\udfff'] }))).toEqual({ ok: true, version: 1 });
        expect(await storage.cas(write('k', 0, index, { scope: `s${name}` }))).toEqual({ ok: true, version: 1 });
      }
      for (const [index, name] of names.entries()) {
        expect(await storage.get('a', name, 0)).toEqual({ value: { $$k: [index, null, '\u0000\udfff'] }, version: 1 });
        expect(await storage.get(`s${name}`, 'k', 0)).toEqual({ value: index, version: 1 });
      }
      expect(await storage.get('b', 'k', 0)).toBeNull();
    });

    it('AL1-6-3: of many writers with the same version exactly one succeeds', async () => {
      const storage = await open();
      const written = await Promise.all(Array.from({ length: 50 }, (_, value) => storage.cas(write('k', 0, value))));
      expect(written.filter(({ ok }) => ok)).toEqual([{ ok: true, version: 1 }]);
      expect(written.filter(({ ok }) => !ok)).toEqual(Array.from({ length: 49 }, () => ({ ok: false, version: 1 })));
    });

    it('what has expired is gone, makes room also in scopes that nobody uses any more, and its version never comes back', async () => {
      const storage = await open({ entries: 1, scopes: 1 });
      expect(await storage.cas(write('k', 0, 1, { ttlMs: 10 }))).toEqual({ ok: true, version: 1 });
      expect(await storage.get('a', 'k', 9.5)).toEqual({ value: 1, version: 1 });
      expect(await storage.get('a', 'k', 10)).toBeNull();
      expect(await storage.cas(write('k', 1, 2, { at: 10 }))).toEqual({ ok: false, version: 0 });
      expect(await storage.cas(write('k', 0, 2, { scope: 'b', at: 10, ttlMs: 5 }))).toEqual({ ok: true, version: 2 });
      await expect(storage.cas(write('l', 0, 2, { scope: 'b', at: 10 }))).rejects.toMatchObject(FULL);
      expect(await storage.cas(write('k', 0, 3, { at: 20 }))).toEqual({ ok: true, version: 3 });
    });

    it('lists the keys of a scope that have not expired, any text at all, in order', async () => {
      const storage = await open();
      for (const key of ['b', 'ä', '"', '\ud800', 'a', 'B']) await storage.cas(write(key, 0, 1));
      await storage.cas(write('gone', 0, 1, { ttlMs: 10 }));
      await storage.cas(write('other', 0, 1, { scope: 'b' }));
      expect(await storage.keys('a', 9)).toEqual(['"', 'B', 'a', 'b', 'gone', 'ä', '\ud800']);
      expect(await storage.keys('a', 10)).toEqual(['"', 'B', 'a', 'b', 'ä', '\ud800']);
      expect(await storage.keys('none', 0)).toEqual([]);
    });

    it('what does not fit is code 37, and nothing is written', async () => {
      const storage = await open({ keyBytes: 4, entryBytes: 20, entries: 2, scopes: 2 });
      await expect(storage.cas(write('k', 0, 'x'.repeat(18)))).rejects.toMatchObject(FULL);
      await expect(storage.cas(write('kéé', 0, 1))).rejects.toMatchObject(FULL);
      expect(await storage.get('a', 'k', 0)).toBeNull();
      expect(await storage.cas(write('k', 0, 'x'.repeat(17)))).toEqual({ ok: true, version: 1 });
      await storage.cas(write('l', 0, 1));
      await expect(storage.cas(write('m', 0, 1))).rejects.toMatchObject(FULL);
      expect(await storage.cas(write('l', 1, 2))).toEqual({ ok: true, version: 2 });
      await storage.cas(write('k', 0, 1, { scope: 'b' }));
      await expect(storage.cas(write('k', 0, 1, { scope: 'c' }))).rejects.toMatchObject(FULL);
    });

    it('bounds the bytes of a scope and of all scopes; what is replaced or forgotten gives its bytes back', async () => {
      const storage = await open({ scopeBytes: 30, totalBytes: 50 });
      const ten = 'x'.repeat(7);
      await storage.cas(write('1', 0, ten));
      await storage.cas(write('2', 0, ten));
      await storage.cas(write('3', 0, ten));
      await expect(storage.cas(write('4', 0, 1))).rejects.toMatchObject(FULL);
      await storage.cas(write('1', 0, ten, { scope: 'b' }));
      await storage.cas(write('2', 0, ten, { scope: 'b' }));
      await expect(storage.cas(write('1', 0, 1, { scope: 'c' }))).rejects.toMatchObject(FULL);
      expect(await storage.cas(write('1', 1, 1))).toEqual({ ok: true, version: 2 });
      expect(await storage.cas(write('1', 0, 1, { scope: 'c' }))).toEqual({ ok: true, version: 1 });
      await storage.forget('b');
      expect(await storage.get('b', '1', 0)).toBeNull();
      expect((await storage.cas(write('1', 0, ten, { scope: 'b' }))).version).toBeGreaterThan(1);
    });

    it('refuses caps that make no sense', async () => {
      for (const caps of [{ entryBytes: 0 }, { entries: -1 }, { scopes: 0.5 }, { totalBytes: Number.NaN }, { entrys: 3 }])
        await expect(async () => await open(caps)).rejects.toMatchObject({ code: 'ERR_CONFIG' });
    });
  });
}
