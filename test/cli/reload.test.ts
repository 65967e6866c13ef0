// @module-tag slow
import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadKeyFile, rotateKeys, saveKeyFile } from '../../src/aeiou/index.ts';
import { openSession, SqliteStore } from '../../src/loop/index.ts';
import { ROUNDS } from '../engines/kit.ts';
import { BIN, command, folder } from './spawn.ts';
import { within } from './terminal.ts';

const program = (...lines: readonly string[]): string =>
  `<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{"subject":"s","fields":{}}\n<<<NSENV:V3:ACTIONS>>>\n${command(...lines)}<<<NSENV:V3:END>>>\n`;
const magic = (action: string): string => `emit tool.aeiou.magic("LOOP", {"action": "${action}"})`;
/** Twenty turns that wait a little. */
const LONG = Array.from({ length: 20 }, (_, turn) => program('emit tool.w.Note()', magic(turn < 19 ? 'continue' : 'done'))).join(
  '',
);
const TOOLS = (text: string): string => `import { setTimeout } from 'node:timers/promises';
  let count = 0;
  export const tools = [{ name: 'tool.w.Note', run: async () => { await setTimeout(150); return '${text}' + ++count; } }];`;
const FILES = {
  'agent.txt': LONG,
  'tools.mjs': TOOLS('old'),
  'serve.yaml':
    'keys: k.json\nlisten: 127.0.0.1:0\nleaseMs: 2000\nprofiles:\n  default:\n    agent: script:agent.txt\n    tools: tools.mjs\n    limits: { fuel: 100000, concurrency: 1 }\n',
};

interface Served {
  readonly child: ChildProcess;
  readonly url: string;
  said(): string;
}

async function serve(cwd: string, owner: string, ...more: readonly string[]): Promise<Served> {
  const args = [BIN, 'serve', '--store', 's.db', '--config', 'serve.yaml', '--owner', owner, ...more];
  const child = spawn(process.execPath, args, { cwd });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stderr.on('data', (chunk) => (text += String(chunk)));
  await expect.poll(() => text, { timeout: 60_000 }).toContain('serving');
  return { child, url: /http:[^\s"]+/.exec(text)?.[0] ?? '', said: () => text };
}

async function ended({ child }: Served): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

const scrape = async ({ url }: Served): Promise<string> => (await fetch(`${url}/metrics`)).text();
const numberOf = (text: string, name: string): number =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`neuroscript_${name} `))
      ?.split(' ')[1],
  );

describe.each(ROUNDS)('issue 48: what operators do and see, round %i', () => {
  it('keys are rotated in two phases under three hosts that work: no session is lost, no token refused', async () => {
    const cwd = folder({ ...FILES, 'other.yaml': FILES['serve.yaml'].replace('k.json', 'other.json') });
    expect(await within(['keys', 'generate', 'k.json'], { cwd })).toMatchObject({ code: 0 });
    const copy = () => copyFileSync(join(cwd, 'k.json'), join(cwd, 'other.json'));
    copy();
    await using store = await SqliteStore.open(join(cwd, 's.db'));
    // Sessions are under way in both phases, however long the command takes.
    let isRotated = false;
    onTestFinished(() => {
      isRotated = true;
    });
    const load = async (): Promise<void> => {
      for (let n = 0; !isRotated || n < 6; n++) {
        await openSession(store, { subject: 's', fields: {} }, { sid: `s${n}`, at: Date.now() });
        await setTimeout(n < 6 ? 0 : 500);
      }
    };
    const loaded = load();
    const hosts = [await serve(cwd, 'a'), await serve(cwd, 'b'), await serve(cwd, 'c', '--config', 'other.yaml')];
    const rotate = () => within(['keys', 'rotate', 'k.json', '--store', 's.db'], { cwd });
    expect((await rotate()).stdout).toMatch(
      /phase 1 of 2: host-primary-2 is announced(.|\n)*missing: host a(.|\n)*run the command again/,
    );
    await expect
      .poll(() => hosts.filter((host) => host.said().includes('host-primary-2 (next-primary)')).length, { timeout: 60_000 })
      .toBe(2);
    // The file is not copied to the third host yet.
    expect((await rotate()).stdout).toMatch(/phase 1 of 2(.|\n)*missing: host c /);
    copy();
    await expect
      .poll(() => hosts.filter((host) => host.said().includes('host-primary-2 (next-primary)')).length, { timeout: 60_000 })
      .toBe(3);
    await expect
      .poll(async () => (await rotate()).stdout, { timeout: 60_000, interval: 300 })
      .toContain('host-primary-2 is the new primary key');
    isRotated = true;
    await loaded;
    await expect
      .poll(async () => (await store.list()).every(({ status }) => status !== 'open'), { timeout: 90_000, interval: 300 })
      .toBe(true);
    const sessions = await store.list();
    expect(sessions.map(({ status, turns }) => `${status} ${turns}`)).toEqual(sessions.map(() => 'done 20'));
    const kids = new Set<string | null>();
    for (const { sid } of sessions) for (const { kid } of await store.turns(sid)) kids.add(kid);
    expect([...kids].sort()).toEqual(['host-primary', 'host-primary-2']);
    for (const host of hosts) {
      expect(await scrape(host)).toMatch(/neuroscript_verify_fail_total\{reason="ERR_TOKEN_VERIFY"\} 0/);
      host.child.kill('SIGTERM');
      expect(await ended(host)).toBe(0);
    }
  }, 180_000);

  it('SIGHUP reads keys, tools, policy and limits for turns that begin after it, each record says its own, a mistake changes nothing', async () => {
    const config = FILES['serve.yaml'].replace('    tools', '    policy: policy.yaml\n    tools');
    const cwd = folder({ ...FILES, 'serve.yaml': config, 'policy.yaml': 'allow: [tool.w.*]\n' });
    await within(['keys', 'generate', 'k.json'], { cwd });
    await within(['sessions', 'open', 's', '--store', 's.db'], { cwd });
    const host = await serve(cwd, 'a', '--log-format', 'json');
    await using store = await SqliteStore.open(join(cwd, 's.db'));
    const turns = async () => (await store.list())[0]?.turns ?? 0;
    await expect.poll(turns, { timeout: 30_000 }).toBeGreaterThan(1);
    writeFileSync(join(cwd, 'serve.yaml'), 'keys: k.json\nprofiles: 5\n');
    host.child.kill('SIGHUP');
    await expect
      .poll(host.said, { timeout: 60_000 })
      .toMatch(/serve\.yaml was not read anew, and the host goes on as before: serve\.yaml:2: profiles/);
    writeFileSync(join(cwd, 'tools.mjs'), TOOLS('new').replace('];', ", { name: 'tool.w.More', run: () => 1 }];"));
    writeFileSync(join(cwd, 'policy.yaml'), 'allow: [tool.w.*, tool.x.*]\n');
    writeFileSync(join(cwd, 'serve.yaml'), config.replace('100000', '77777').replace('leaseMs: 2000', 'leaseMs: 3000'));
    const { keys } = rotateKeys(loadKeyFile(join(cwd, 'k.json')), { role: 'primary', now: Date.now() / 1000 });
    saveKeyFile(join(cwd, 'k.json'), keys);
    host.child.kill('SIGHUP');
    await expect.poll(host.said, { timeout: 60_000 }).toContain('drives turns that begin from now on');
    expect(host.said()).toContain('serve.yaml: leaseMs was changed, which this host sees when it is started again');
    await expect.poll(async () => (await store.list())[0]?.status, { timeout: 60_000, interval: 300 }).toBe('done');
    const records = await store.turns('s');
    expect(records).toHaveLength(20);
    const ran = records.map(({ output, inputs: { limits, scene } }) => {
      const allowed = scene?.host?.policies.flatMap((policy) => policy?.allow ?? []);
      return `${output.slice(0, 3)} ${limits.fuel} ${allowed} ${scene?.host?.catalogue}`;
    });
    expect([...new Set(ran)]).toEqual([
      expect.stringMatching(/^old 100000 tool\.w\.\* \S+$/),
      expect.stringMatching(/^new 77777 tool\.w\.\*,tool\.x\.\* \S+$/),
    ]);
    expect(new Set(records.map(({ inputs }) => inputs.scene?.host?.catalogue)).size).toBe(2);
    const signed = records.map(({ kid, inputs }) => `${kid} of ${inputs.scene?.judged.keys.map((key) => key.kid)}`);
    expect(signed[0]).toBe('host-primary of host-primary,host-fallback');
    expect(signed.at(-1)).toBe('host-primary-2 of host-primary-2,host-primary,host-fallback');
    host.child.kill('SIGTERM');
    expect(await ended(host)).toBe(0);
    for (const line of host.said().trimEnd().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ time: expect.any(String), level: expect.stringMatching(/^(info|warn|error)$/) });
  }, 180_000);

  it('readiness asks store and log, and says which of them does not work; metrics tell the same', async () => {
    const cwd = folder({ ...FILES, 'serve.yaml': `${FILES['serve.yaml']}log: logs/d.log\n` });
    mkdirSync(join(cwd, 'logs'));
    await within(['keys', 'generate', 'k.json'], { cwd });
    const host = await serve(cwd, 'a');
    const ready = async () => {
      const answer = await fetch(`${host.url}/readyz`);
      return `${answer.status} ${(await answer.text()).trimEnd()}`;
    };
    expect(await ready()).toBe('200 ready\nstore: ok\nlog: ok');
    renameSync(join(cwd, 'logs'), join(cwd, 'away'));
    expect(await ready()).toMatch(/^503 not ready\nstore: ok\nlog: the decision log .*logs\/d\.log cannot be written: ENOENT/);
    expect(await scrape(host)).toContain('neuroscript_part_up{part="log"} 0\n');
    renameSync(join(cwd, 'away'), join(cwd, 'logs'));
    expect(await ready()).toMatch(/^200 /);
    // As on a full disk: what is there can be read.
    const grow = (bytes: string) => execFileSync('prlimit', [`--fsize=${bytes}:`, '--pid', String(host.child.pid)]);
    grow('1024');
    expect(await ready()).toMatch(
      /^503 not ready\nstore: .*s\.db cannot be used: .*\nlog: .*logs\/d\.log cannot be written: EFBIG/,
    );
    expect(await scrape(host)).toMatch(/neuroscript_part_up\{part="store"\} 0\n/);
    grow('unlimited');
    await expect.poll(ready).toMatch(/^200 /);
    const text = await scrape(host);
    expect(text).toMatch(/^neuroscript_build_info\{version="[\d.]+",node="[\d.]+"\} 1$/m);
    expect(text).toMatch(/^neuroscript_store_seconds_count\{request="next"\} [1-9]/m);
    expect(text).toMatch(/^neuroscript_process_resident_memory_bytes\{process="host"\} [1-9]/m);
    expect(numberOf(text, 'host_ready')).toBe(1);
    // Every line is of the format, and no name is new beside the prefix.
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(/^(# (HELP|TYPE) neuroscript_\w+ .+|neuroscript_\w+(\{[^}]*\})? -?[\d.e+-]+)$/);
  }, 180_000);

  it('a host whose workers are not confined says so on standard error and in its metrics', async () => {
    const cwd = folder({
      ...FILES,
      'serve.yaml': FILES['serve.yaml'].replace('    tools', '    launcher: required\n    tools'),
    });
    await within(['keys', 'generate', 'k.json'], { cwd });
    // The flag takes the place of what the profile says.
    const host = await serve(cwd, 'a', '--launcher', 'none');
    expect(host.said()).toMatch(
      /warn {2}ring 3 is not complete: the operating system does not confine the workers: .*switched off/,
    );
    expect(await scrape(host)).toContain('neuroscript_ring_complete{ring="3"} 0\n');
  }, 180_000);

  it('a host that may open too few files says so', async () => {
    const cwd = folder(FILES);
    await within(['keys', 'generate', 'k.json'], { cwd });
    // A descriptor that the host inherited, with a number that a child may not have: the system calls that an invalid value.
    const script = `ulimit -n 90; exec "${process.execPath}" "${BIN}" serve --store s.db --config serve.yaml --launcher none`;
    const stdio: StdioOptions = Array<'ignore' | 'pipe' | number>(96)
      .fill('ignore')
      .with(2, 'pipe')
      .with(95, openSync(devNull, 'r'));
    const child = spawn('/bin/sh', ['-c', script], { cwd, stdio });
    onTestFinished(() => void child.kill('SIGKILL'));
    let text = '';
    child.stderr?.on('data', (chunk) => (text += String(chunk)));
    const [code] = await once(child, 'close');
    expect(text).toMatch(
      /serve\.yaml: profile default: a worker cannot be started .*this process may have 90 files open; let it have 256 \(ulimit -n 256\)/,
    );
    expect(code).toBe(2);
  }, 180_000);
});
