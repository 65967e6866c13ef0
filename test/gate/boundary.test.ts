// @module-tag slow
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { chmodSync, closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as gate from '../../src/gate/index.ts';
import { importsOf, isOurs } from '../architecture/imports.ts';
import { filesBelow, ROOT, sourceOf } from '../architecture/source.ts';
import { neuroscript } from '../cli/spawn.ts';
import { tempFolder } from '../folder.ts';
import { ask, HASH, ID, line, OK, OTHER, queueWith, snapshot, stub } from './kit.ts';

const BIN = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));
const GATE = fileURLToPath(new URL('../../dist/src/gate/main.js', import.meta.url));
const SPY = new URL('./spy.mjs', import.meta.url).href;
const ARGV = (queue: string, verifier = 'true') => ['gate', ID, HASH, '--queue', queue, '--verifier', verifier];

const report = z.object({
  code: z.number(),
  calls: z.array(z.tuple([z.string()], z.unknown())),
  clock: z.number(),
  handles: z.array(z.string()),
});

/** Runs the built command with `spy.mjs`. */
function spied(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const result: SpawnSyncReturns<Buffer> = spawnSync(process.execPath, ['--import', SPY, BIN, ...argv], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const asked = report.parse(JSON.parse(String(result.output[3])));
  return { status: result.status, stdout: String(result.stdout), stderr: String(result.stderr), ...asked };
}

/** A file and all files that it imports, directly or indirectly. */
function filesOf(entry: string): string[] {
  const found = new Set([entry]);
  for (const path of found) for (const { to } of importsOf(sourceOf(path))) if (isOurs(to)) found.add(to);
  return [...found].sort();
}

const STATES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  eligible: { 'approved.jsonl': line(), 'executed.jsonl': line({ id: OTHER }), 'pending.jsonl': 'secret' },
  executed: { 'approved.jsonl': line(), 'executed.jsonl': line(), 'pending.jsonl': 'secret' },
  corrupt: { 'approved.jsonl': 'x', 'executed.jsonl': 'y', 'pending.jsonl': 'secret' },
  empty: {},
};

describe('what the gate does to the system', () => {
  it('ARGO-1-6, ARGO-R1: starts the verifier and no other program', () => {
    const verifier = stub('exit 0');
    const { status, calls } = spied(ARGV(queueWith(), verifier.command));
    expect(status).toBe(0);
    expect(calls.filter(([name]) => /spawn|exec|fork/.test(name))).toEqual([['spawnSync', verifier.command, [ID, HASH], false]]);
  });

  it('ARGO-3-5: opens executed.jsonl and nothing else of the queue: never what is pending, nor what was approved', () => {
    const queue = queueWith(STATES['eligible']);
    const { calls } = spied(ARGV(queue), { SPY_QUEUE: queue });
    const opened = calls.filter(([name]) => name.startsWith('open') || name.startsWith('read'));
    expect(opened.map(([name, path]) => [name, path])).toEqual([['openSync', join(queue, 'executed.jsonl')]]);
  });

  it('ARGO-4-6: opens nothing of the queue when the verifier did not approve, and asks it once', () => {
    for (const code of [1, 2]) {
      const queue = queueWith(STATES['executed']);
      const verifier = stub(`exit ${code}`);
      const { calls } = spied(ARGV(queue, verifier.command), { SPY_QUEUE: queue });
      expect(calls).toEqual([['spawnSync', verifier.command, [ID, HASH], false]]);
    }
  });

  it('ARGO-5-7, ARGO-7-3: opens it for reading alone, once', () => {
    const queue = queueWith(STATES['eligible']);
    const flags = spied(ARGV(queue), { SPY_QUEUE: queue }).calls.flatMap(([name, , flag]) => (name === 'openSync' ? [flag] : []));
    // O_RDONLY is 0. O_NONBLOCK only avoids waiting for the other end of a pipe.
    expect(flags).toEqual([0o4000]);
  });

  it('ARGO-1-11, ARGO-7-2, ARGO-7-6, ARGO-R5: changes, adds and removes no file, whatever it says', async () => {
    for (const files of Object.values(STATES)) {
      const queue = queueWith(files);
      const before = snapshot(queue);
      await neuroscript(ARGV(queue));
      await neuroscript(ARGV(queue, 'false'));
      expect(snapshot(queue)).toEqual(before);
    }
  });

  it('ARGO-5-7: works where nothing can be written', async () => {
    const queue = queueWith(STATES['eligible']);
    chmodSync(join(queue, 'executed.jsonl'), 0o444);
    chmodSync(queue, 0o555);
    expect((await neuroscript(ARGV(queue))).stdout).toBe(`${OK}\n`);
    chmodSync(queue, 0o755);
  });

  it('ARGO-R5: talks to no network', () => {
    const { calls } = spied(ARGV(queueWith()));
    expect(calls.filter(([name]) => ['connect', 'createConnection', 'createServer', 'createSocket'].includes(name))).toEqual([]);
  });

  it('ARGO-7-8: reads no clock', () => {
    for (const files of Object.values(STATES)) {
      const queue = queueWith(files);
      expect(spied(ARGV(queue), { SPY_QUEUE: queue }).clock).toBe(0);
    }
  });

  it('ARGO-1-10, ARGO-7-5, ARGO-R8: leaves no timer, handle or child behind when it has answered', () => {
    const verifier = stub('exit 0');
    const { handles, stdout } = spied(ARGV(queueWith(), verifier.command));
    expect(stdout).toBe(`${OK}\n`);
    expect(handles).toEqual([]);
  });

  it('ARGO-7-5: not even the verifier that it gave up', () => {
    const verifier = stub(`echo $$ > "$0.pid"; exec sleep 60`);
    expect(ask(queueWith(), { command: verifier.command, args: [], timeoutMs: 300 }).eligible).toBe(false);
    const { status } = spawnSync('sh', ['-c', `kill -0 "$(cat '${verifier.command}.pid')"`]);
    expect(status).not.toBe(0);
  });

  it('ARGO-3-6: asks nobody anything: standard input may be anything', async () => {
    const open = await neuroscript(ARGV(queueWith()), { keepStdinOpen: true });
    expect(open.stdout).toBe(`${OK}\n`);
    expect((await neuroscript(ARGV(queueWith(), stub('read x && exit 1; exit 0').command), { stdin: 'no\n' })).stdout).toBe(
      `${OK}\n`,
    );
  });

  it('ARGO-7-4: the answer is the same under every environment, directory and configuration file', async () => {
    const elsewhere = queueWith({
      '.npmrc': 'x',
      'neuroscript.yaml': 'gate: open',
      '.env': 'NEUROSCRIPT_GATE=off',
      'executed.jsonl': '',
    });
    for (const [name, files] of Object.entries(STATES)) {
      const queue = queueWith(files);
      const plain = await neuroscript(ARGV(queue));
      const env = { NEUROSCRIPT_GATE: 'off', HOME: elsewhere, LANG: 'tr_TR', TZ: 'Asia/Tokyo', FORCE_COLOR: '1', DEBUG: '*' };
      expect([name, await neuroscript(ARGV(queue), { cwd: elsewhere, env })]).toEqual([name, plain]);
    }
  });
});

describe('what the gate says', () => {
  it('ARGO-1-5, ARGO-R6, ARGO-7-1: exactly one line, for every answer, and an error says so', async () => {
    const argvs = [
      ...Object.values(STATES).map((files) => ARGV(queueWith(files))),
      ARGV(queueWith(), 'false'),
      ARGV(queueWith(), join(tempFolder(), 'gone')),
      ARGV(join(tempFolder(), 'gone')),
      ARGV(queueWith(), stub('exit 3').command),
      ['gate'],
      ['gate', ID, 'x', '--queue', '.', '--verifier', 'true'],
    ];
    for (const argv of argvs) {
      const { code, stdout } = await neuroscript(argv);
      expect(stdout).toMatch(code === 0 ? /^\[OK\] Intent eligible for execution\n$/ : /^\[ERROR\] [^\n]+\n$/);
      expect([0, 1]).toContain(code);
    }
  });

  it('ARGO-7-1: shows what the verifier said, and why a file could not be read', async () => {
    const { stderr } = await neuroscript(ARGV(queueWith(), stub('echo reason >&2; exit 1').command));
    expect(stderr).toBe('reason\n');
    expect((await neuroscript(ARGV(join(tempFolder(), 'gone')))).stderr).toMatch(/ENOENT/);
  });

  it('an answer that nobody can read is a no', async () => {
    const full = openSync('/dev/full', 'w');
    const outcome = await neuroscript(ARGV(queueWith()), { stdoutTo: full });
    closeSync(full);
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(/ENOSPC/);
    const piped = spawnSync('sh', [
      '-c',
      '{ "$@"; echo $? >&2; } | true',
      'sh',
      process.execPath,
      BIN,
      ...ARGV(queueWith(), 'sleep 0.3'),
    ]);
    expect(String(piped.stderr)).toMatch(/1\n$/);
    const shell = (redirection: string) =>
      spawnSync('sh', ['-c', `"$@" ${redirection}`, 'sh', process.execPath, BIN, ...ARGV(queueWith())]).status;
    expect(shell('>&-')).toBe(1);
    expect(shell('2>&- >&-')).toBe(1);
    // A script may choose to look at the exit code alone.
    expect(shell('>/dev/null')).toBe(0);
  });

  it.each([
    ['spawnSync', 1],
    ['openSync', 1],
    ['fstatSync', 1],
    ['readSync', 2],
    ['closeSync', 1],
    ['statSync', 1],
    ['lstatSync', 1],
    ['writeSync', 1],
  ])('ARGO-3-7: a failing %s, whichever of its %i calls it is, ends in 1', (name, calls) => {
    const queue = queueWith(name === 'lstatSync' ? {} : STATES['eligible']);
    const breaking = (at: number) => spied(ARGV(queue), { SPY_BREAK: name, SPY_AT: String(at) });
    for (let at = 1; at <= calls; at += 1) {
      const { status, stdout } = breaking(at);
      expect(status).toBe(1);
      expect(stdout).toMatch(/^\[ERROR\] [^\n]+\n$/);
    }
    expect(breaking(calls + 1)).toMatchObject({ status: 0, stdout: `${OK}\n` });
  });

  it('ARGO-3-7: a build without the gate, and one that is broken, end in 1 as well', () => {
    const folder = queueWith({ 'package.json': '{"type":"module"}' });
    const copy = spawnSync('sh', ['-c', `mkdir '${folder}/bin' && cp '${BIN}' '${folder}/bin/'`]);
    expect(copy.status).toBe(0);
    const run = () => spawnSync(process.execPath, [join(folder, 'bin/neuroscript.js'), ...ARGV('.')], { encoding: 'utf8' });
    expect(run()).toMatchObject({ status: 1, stdout: '[ERROR] Execution controller failure\n' });
    spawnSync('mkdir', ['-p', join(folder, 'dist/src/gate')]);
    for (const text of [
      'export const main = () => { throw new Error("x"); };',
      'export const main = () => undefined;',
      'syntax error',
      'export const main = () => 7;',
    ]) {
      writeFileSync(join(folder, 'dist/src/gate/main.js'), text);
      expect(run().status).toBe(1);
    }
  });
});

describe('what the gate is', () => {
  const ours = filesOf('src/gate/eligibility.ts');

  it('ARGO-3-4, ARGO-7-10: imports no tools, and nothing else of the project', () => {
    for (const path of filesBelow('src/gate', '.ts'))
      for (const { to } of importsOf(sourceOf(path))) expect(to).toMatch(/^(src\/gate\/|node:)/);
  });

  it('ARGO-3-4: started as a command it loads its own file alone', () => {
    const loaded = spawnSync(
      process.execPath,
      [
        '--import',
        'data:text/javascript,import{registerHooks}from"node:module";import{writeSync}from"node:fs";registerHooks({load(u,c,n){if(u.startsWith("file:"))writeSync(2,u+"\\n");return n(u,c)}})',
        BIN,
        ...ARGV(queueWith()),
      ],
      { encoding: 'utf8' },
    );
    expect(loaded.stdout).toBe(`${OK}\n`);
    const files = loaded.stderr.split('\n').filter((url) => url.startsWith('file:'));
    expect(files.map((url) => fileURLToPath(url))).toEqual([BIN, GATE]);
    const text = readFileSync(GATE, 'utf8');
    expect(text.match(/^import\b.*|\bimport\(.*/gm)).toBe(null);
    expect(text.match(/getBuiltinModule\("node:/g)?.length).toBeGreaterThan(1);
  });

  it('ARGO-1-5, ARGO-9-2: one question about one intent: the gate has one function, with one request', () => {
    expect(Object.keys(gate).sort()).toEqual(
      [
        'ExecutorError',
        'QueueLock',
        'checkEligibility',
        'executeOnce',
        'recordApproved',
        'recordExecuted',
        'verifyApproval',
      ].sort(),
    );
    expect(gate.checkEligibility.length).toBe(2);
  });

  it('ARGO-2-3, ARGO-8-2: only the commands of a human say that a human acts; no loop, tool or runtime can', () => {
    const texts = filesBelow('src', '.ts').map((path) => [path, readFileSync(join(ROOT, path), 'utf8')] as const);
    const saying = texts
      .filter(([, text]) => text.includes("source: 'human'") && /source: 'human'/.test(text.replace(/^\s*\*.*$/gm, '')))
      .map(([path]) => path);
    expect(saying.sort()).toEqual([
      'src/cli/commands/execute.ts',
      'src/cli/flags/approval.ts',
      'src/gate/eligibility.ts',
      'src/gate/main.ts',
    ]);
    // Parsing every file takes seconds. One without the name of the folder imports nothing of it from elsewhere.
    const importing = texts
      .filter(([path, text]) => text.includes('gate/') && importsOf(sourceOf(path)).some(({ to }) => to.startsWith('src/gate/')))
      .map(([path]) => path);
    expect(importing.filter((path) => !/^src\/(gate|cli)\//.test(path))).toEqual([]);
  });

  it('ARGO-R2: approval, eligibility and execution are apart: the gate needs neither of the other two', () => {
    expect(ours.filter((path) => /executor|approve/.test(path))).toEqual([]);
    expect(filesOf('src/gate/approval.ts').filter((path) => /executor|eligibility|verifier|history/.test(path))).toEqual([]);
    const state = ours.filter((path) => /^(?:export )?let /m.test(sourceOf(path).text));
    expect(state).toEqual([]);
  });

  it('ARGO-R7, ARGO-1-7: it is small, and no text of an intent comes near it', () => {
    const lines = ours.flatMap((path) => sourceOf(path).text.split('\n'));
    expect(lines.length).toBeLessThan(500);
    for (const path of ours) expect(sourceOf(path).text).not.toMatch(/pending|setTimeout|setInterval|process\.argv|\bfetch\b/);
  });

  it('ARGO-1-8, ARGO-9-3: the answer depends on the inputs, the verifier and the record, and no flag changes it', async () => {
    const queue = queueWith(STATES['executed']);
    for (const flag of ['--force', '--yes', '--dry-run', '--retry=3', '--timeout=9', '--no-verify', '--ignore-history', '-f'])
      expect(await neuroscript([...ARGV(queue), flag])).toMatchObject({ code: 1 });
    // The same inputs and states, with everything else different.
    const [one, two] = [
      queueWith(STATES['eligible']),
      queueWith({ ...STATES['eligible'], notes: 'dangerous', 'pending.jsonl': 'rm -rf /' }),
    ];
    expect((await neuroscript(ARGV(one))).stdout).toBe((await neuroscript(ARGV(two))).stdout);
  });

  it('ARGO-8-1: there is no command that repairs, retries or schedules; approving and executing are a human’s commands', async () => {
    const pages = await Promise.all([neuroscript(['--help']), neuroscript(['help', 'gate'])]);
    const commands = pages.flatMap(({ stdout }) => [...stdout.matchAll(/^ {2}([a-z-]+)(?: |$)/gm)].map(([, name]) => name));
    expect(commands).toEqual(expect.arrayContaining(['gate', 'propose', 'approve', 'verify', 'execute']));
    expect(commands.filter((name) => /repair|retry|schedule|unlock|watch|daemon/.test(name ?? ''))).toEqual([]);
    const page = readFileSync(new URL('../../docs/gate.md', import.meta.url), 'utf8');
    expect(page).toContain('nothing deletes, rewrites or repairs a line');
    const [, after = ''] = page.split(/^\| it died +\|.*\| what a human does +\|$/m);
    const tasks = after.split('\n\n')[0]?.split('\n').slice(2);
    expect(tasks).toHaveLength(3);
    for (const row of tasks ?? []) expect(row.split('|').at(-2)?.trim()).toMatch(/[a-z]/);
  });

  it('ARGO-7-11, ARGO-R4: a queue in a doubtful state is denied again and again, and mended by nobody', () => {
    const queue = queueWith(STATES['corrupt']);
    const verifier = stub('exit 0');
    for (let times = 1; times <= 3; times += 1) {
      expect(ask(queue, verifier).eligible).toBe(false);
      expect(verifier.calls()).toHaveLength(times);
    }
    expect(readdirSync(queue).sort()).toEqual(['approved.jsonl', 'executed.jsonl', 'pending.jsonl']);
  });
});
