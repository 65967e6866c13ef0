import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describe as describeCommands } from '../../src/cli/manual/describe.ts';
import { LIMITS, POOL_LIMITS } from '../../src/wire/limits.ts';
import { command, folder, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

const envelope = (...lines: readonly string[]): string =>
  `<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{"subject":"s","fields":{}}\n<<<NSENV:V3:ACTIONS>>>\n${command(...lines)}<<<NSENV:V3:END>>>\n`;
const magic = (action: string): string => `emit tool.aeiou.magic("LOOP", {"action": "${action}"})`;
const AGENT = envelope('emit tool.shop.Price()', magic('continue')) + envelope(magic('done'));
const TOOLS = 'tools: { tool.shop.Price: { args: [], cases: [{ returns: 7 }] } }\n';
const NIGHT = 'agent: script:agent.txt\ntools: tools.yaml\nlog: night.jsonl\nlimits: { fuel: 100000 }\nmaxTurns: 5\n';

/** A folder above the one of the configuration, whose files it names. */
const files = (more: Readonly<Record<string, string>> = {}): string =>
  folder({ 'agent.txt': AGENT, 'tools.yaml': TOOLS, 'night.yaml': NIGHT, ...more });

const loop = (...args: readonly string[]) => within(['loop', '--store', 'none', '--json', ...args]);

describe('issue 42: loop --config', () => {
  it('drives a session as the configuration says, with paths relative to it', async () => {
    const place = files();
    const { code, stdout, stderr } = await loop('--config', join(place, 'night.yaml'));
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ decision: 'DONE', turns: [{ output: expect.stringContaining('7\n') }, {}] });
    expect(linesOf(readFileSync(join(place, 'night.jsonl'), 'utf8'))).toHaveLength(2);
  });

  it('issue 48: an agent is named without the path that a configuration makes absolute', async () => {
    const place = files();
    const store = ['--store', join(place, 's.db')];
    expect(await within(['loop', ...store, '--config', join(place, 'night.yaml'), '--sid', 's'])).toMatchObject({ code: 0 });
    expect(JSON.parse((await within(['sessions', 'list', '--json', ...store])).stdout)).toMatchObject({ agent: 'agent.txt' });
  });

  it('flags take the place of keys, and limits of the same name alone', async () => {
    const place = files({ 'short.txt': envelope('while true', '  set x = 1', 'endwhile') });
    const config = ['--config', join(place, 'night.yaml')];
    expect(JSON.parse((await loop(...config, '--max-turns', '1')).stdout)).toMatchObject({ reason: 'ERR_MAX_TURNS' });
    const short = JSON.parse((await loop(...config, '--agent', `script:${join(place, 'short.txt')}`)).stdout);
    expect(short).toMatchObject({ reason: 'ERR_QUOTA', error: { limit: 'fuel', allowed: 100_000 } });
    const tighter = [...config, '--agent', `script:${join(place, 'short.txt')}`, '--fuel', '5000', '--cpu', '10s'];
    expect(JSON.parse((await loop(...tighter)).stdout)).toMatchObject({ error: { limit: 'fuel', allowed: 5000 } });
  });

  it('an agent of a flag is free of what the configuration says of its model', async () => {
    const place = files({ 'model.yaml': 'agent: model:m\nbaseUrl: http://127.0.0.1:1/v1\nretries: 1\ntools: tools.yaml\n' });
    const { stdout } = await loop('--config', join(place, 'model.yaml'), '--agent', `script:${join(place, 'agent.txt')}`);
    expect(JSON.parse(stdout)).toMatchObject({ decision: 'DONE' });
  });

  it('takes the profile for sessions without one, and resume and complete that of the session', async () => {
    const place = files({
      'hosts.yaml': 'keys: k.json\nprofiles:\n  one: { agent: script:agent.txt, tools: tools.yaml, durable: call }\n',
    });
    const config = ['--config', join(place, 'hosts.yaml')];
    expect(await within(['keys', 'generate', join(place, 'k.json')])).toMatchObject({ code: 0 });
    expect(await loop(...config)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("has no profile 'default'; it has one"),
    });
    const store = ['--store', join(place, 's.db')];
    expect(await within(['sessions', 'open', 's', ...store, ...config, '--profile', 'one'])).toMatchObject({ code: 0 });
    const resumed = await within(['sessions', 'resume', 's', ...store, ...config, '--json']);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ decision: 'DONE' });
    expect(existsSync(join(place, 'night.jsonl'))).toBe(false);
  });

  it('is one for a loop of v1, too', async () => {
    const place = folder({
      'v1.yaml': 'agent: script:agent.txt\n',
      'agent.txt': `<<<NSENVELOPE_MAGIC::ACTIONS::v1>>>\n${command('emit "[[loop:done]]"')}`,
    });
    expect(await loop('--profile', 'v1', '--config', join(place, 'v1.yaml'))).toMatchObject({ code: 0 });
  });

  it('refuses what a loop of v1 does not have, and says which', async () => {
    const config = ['--profile', 'v1', '--config', join(files(), 'night.yaml')];
    expect(await loop(...config)).toMatchObject({ code: 2, stderr: expect.stringContaining('--log cannot be combined with') });
  });

  it('DESIGN 5: loop has the flags that others rely on', async () => {
    const { pages } = await describeCommands();
    const names = new Set(pages.find(({ path }) => path === 'loop')?.flags.flatMap((flag) => flag.names));
    const relied = 'config profile store json max-reasks repair isolation max-cost approve rehearse'.split(' ');
    expect(relied.filter((name) => !names.has(`--${name}`))).toEqual([]);
  });

  it('issue 42: loop and serve have at most 35 flags beside the limits', async () => {
    const limits = new Set([...LIMITS, ...POOL_LIMITS].map(({ flag }) => `--${flag}`));
    const { pages } = await describeCommands();
    for (const name of ['loop', 'serve']) {
      const flags = pages.find(({ path }) => path === name)?.flags ?? [];
      const own = flags.filter(({ names }) => !names.some((each) => limits.has(each)));
      expect({ name, count: own.length, few: own.length <= 35 }).toEqual({ name, count: own.length, few: true });
    }
  });
});
