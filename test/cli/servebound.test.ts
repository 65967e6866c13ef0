import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DEFAULT_LIFETIMES, generateKeys, keyringFrom } from '../../src/aeiou/index.ts';
import { readConfig } from '../../src/cli/config/read.ts';
import { openProfiles } from '../../src/cli/serve/profiles.ts';
import { Host, MemoryStore, Metrics, openSession, PLAN, SessionCoordinator, systemClock } from '../../src/loop/index.ts';
import { grantText } from '../../src/tools/index.ts';
import { reply } from '../aeiou/kit.ts';
import { command, folder } from './spawn.ts';

it('issue 47: serve holds its sessions to bound: a call outside is refused, and with approve it waits until a person approves', async () => {
  const programs = command('emit tool.t.Send("a")', 'call send("b")', 'emit tool.aeiou.magic("LOOP", {"action": "done"})');
  const when = { to: 'a' };
  const held = { library: 'lib', bound: 'a.grant.yaml', ceilings: { maxReasks: 0 } };
  const profile = { agent: 'script:agent.txt', tools: 'tools.yaml', ...held };
  const cwd = folder({
    'tools.yaml': 'tools: { tool.t.Send: { args: [to], otherwise: { returns: sent } } }\n',
    'agent.txt': reply(programs),
    'lib/send.ns': 'func send(needs to) means\n  emit tool.t.Send(to)\nendfunc\n',
    'a.grant.yaml': grantText({ version: 1, programs: [], calls: [{ number: 1, tool: 'tool.t.send', when, effects: 'write' }] }),
    'serve.yaml': JSON.stringify({ keys: 'keys.json', profiles: { refuses: profile, asks: { ...profile, approve: 'plan' } } }),
  });
  const [store, metrics] = [new MemoryStore(), new Metrics()];
  const keyring = keyringFrom(generateKeys('serve'), { clock: systemClock });
  const { replayTtl } = DEFAULT_LIFETIMES;
  const coordinator = new SessionCoordinator({ store, log: null, clock: systemClock, replayTtl });
  const shared = { keyring, coordinator, store, log: null, metrics, launcher: undefined, apart: null };
  const file = join(cwd, 'serve.yaml');
  await using profiles = await openProfiles(file, await readConfig(file), shared);
  for (const sid of ['refuses', 'asks'])
    await openSession(store, { subject: 's', fields: {} }, { sid, profile: sid, at: Date.now() });
  const host = new Host({ coordinator, profiles: profiles.byName, pollMs: 10 });
  onTestFinished(() => host.drain(1000));
  host.start();
  const found = async () => (await store.list()).map(({ sid, status, waits }) => [sid, status, waits?.call ?? null]);
  await expect.poll(found, { timeout: 20_000 }).toEqual([
    ['asks', 'open', PLAN],
    ['refuses', 'halted', null],
  ]);
  const [refused] = await store.turns('refuses');
  expect([refused?.reason, refused?.error?.message]).toEqual(['ERR_POLICY', expect.stringContaining('outside of the grant')]);
  expect(refused?.output).toBe('sent\n');
  const [waiting] = await store.list();
  // Only what the standing grant does not have is asked.
  expect(waiting?.waits?.plan?.calls.map((call) => call.when)).toEqual([{ to: 'b' }]);
  await profiles.byName['asks']?.controller.complete('asks', PLAN, { result: true });
  await expect
    .poll(async () => (await store.turns('asks')).map(({ output, decision }) => [output.match(/sent/g)?.length, decision]), {
      timeout: 20_000,
    })
    .toEqual([[2, 'DONE']]);
});
