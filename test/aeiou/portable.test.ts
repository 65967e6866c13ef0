import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { importsOf } from '../architecture/imports.ts';
import { sourceOf } from '../architecture/source.ts';
import { goldenTurn, PRIMARY_SEED, TOKENS } from './kit.ts';

/** Every file, package and built-in that a file imports as a value, directly or indirectly. */
function reachable(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  if (!path.endsWith('.ts')) return seen;
  for (const { to, typeOnly } of importsOf(sourceOf(path))) if (!typeOnly) reachable(to, seen);
  return seen;
}

describe('the entry point ./aeiou', () => {
  it('reaches no module of Node by import', () => {
    const all = [...reachable('src/aeiou/index.ts')];
    expect(all.length).toBeGreaterThan(20);
    expect(all.filter((path) => path.startsWith('node:'))).toEqual([]);
    expect(all.filter((path) => !path.endsWith('.ts')).sort()).toEqual(['@noble/ed25519', '@noble/hashes', 'canonicalize']);
  });

  it('verifies, mints and digests where there is no `process`', () => {
    const entry = fileURLToPath(new URL('../../src/aeiou/index.ts', import.meta.url));
    const program = `
      delete globalThis.process; delete globalThis.Buffer;
      const a = await import(${JSON.stringify(entry)});
      const clock = { now: () => 1725012345000 };
      const keys = new a.Keyring({ clock });
      const seed = Uint8Array.from(${JSON.stringify([...PRIMARY_SEED])});
      keys.add({ kid: 'ed25519-test-1', role: 'primary', alg: 'Ed25519', seed });
      const turn = { keys, sessionId: 'sid-1', turnIndex: 1, turnNonce: ${JSON.stringify(goldenTurn().turnNonce)}, now: 1725012345 };
      const input = { sessionId: 'sid-1', turnIndex: 1, turnNonce: turn.turnNonce, jti: '00000000-0000-4000-8000-000000000001',
        issuedAt: 1725012345, ttl: 120, payload: { action: 'done' } };
      let refused;
      try { a.loadKeyFile('x'); } catch (error) { refused = error.code; }
      console.log(JSON.stringify([a.defaultCrypto.name, a.verifyToken(${JSON.stringify(TOKENS.T1)}, turn).ok,
        await a.mintToken(input, keys.signer('primary')), a.progressDigest('', ''), refused, a.newTurnNonce().length]));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
    expect(JSON.parse(output)).toEqual([
      'noble',
      true,
      TOKENS.T1,
      'a038735ca1cca6bb4bc227de996b9fe097f0573b6c5c16fb4b71f9b3e8a52f26',
      'ERR_KEY',
      22,
    ]);
  });
});
