import { describe, expect, it } from 'vitest';
import { checkRetry } from '../../src/loop/agents/retry.ts';
import { systemClock } from '../../src/loop/clock.ts';
import { Host } from '../../src/loop/host/host.ts';
import { SessionCoordinator } from '../../src/loop/index.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import { McpLogins } from '../../src/mcp/auth/logins.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { filesBelow, sourceOf } from './source.ts';

const TOO_LONG = 2 ** 31;
const coordinator = () => new SessionCoordinator({ store: new MemoryStore(), log: null, clock: systemClock, replayTtl: 600 });
const host = (options = {}) => new Host({ coordinator: coordinator(), profiles: {}, ...options });

describe('a time that no timer can wait for, whose timer would end at once', () => {
  it.each<[string, () => unknown]>([
    [
      'a lease',
      () =>
        new SessionCoordinator({
          store: new MemoryStore(),
          log: null,
          clock: systemClock,
          replayTtl: 600,
          leaseMs: TOO_LONG,
        }),
    ],
    ['a poll of a host', () => host({ pollMs: TOO_LONG })],
    ['a drain', () => host().drain(TOO_LONG)],
    ['a drain without an end', () => host().drain(Number.POSITIVE_INFINITY)],
    ['a pause between attempts', () => checkRetry({ maxDelayMs: TOO_LONG })],
    ['a login', () => new McpLogins('/nowhere').login('s', { url: 'http://127.0.0.1' }, { open: () => {}, timeoutMs: TOO_LONG })],
  ])('%s is refused', async (_what, work) => {
    await expect((async () => work())()).rejects.toThrow(ConfigError);
  });

  it('is named in one place, and options that a timer waits for are checked by `timerMs`', () => {
    const files = filesBelow('src', '.ts').filter((path) => !path.startsWith('src/testing/'));
    expect(files.filter((path) => /2 \*\* 31\b/.test(sourceOf(path).text))).toEqual([
      // The protocol imports nothing of the wire format but errors.
      'src/aeiou/token/minter.ts',
      'src/wire/options.ts',
    ]);
    const direct = files.filter((path) =>
      /\b(lease|poll|drain|timeout|sign)Ms: (required\()?wholeNumber\(/.test(sourceOf(path).text),
    );
    expect(direct).toEqual([]);
  });
});
