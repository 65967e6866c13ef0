/**
 * `npm run simulate`: runs the scenario of `shop.ts`, or with `--scenario repair` that of `repair.ts`, in many worlds. With `--seed` and what a failure prints, it repeats one schedule.
 * `--planted` plants every mistake of `plants.ts` by itself, in a process of its own, and each must be found. `--jobs N` has N processes
 * do the work; its default is one.
 */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { SimulationFailure } from '../../src/testing/index.ts';
import { defined } from '../../src/wire/defined.ts';
import { PLANTS, type Plant } from './plants.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    hosts: { type: 'string' },
    sessions: { type: 'string' },
    faults: { type: 'string' },
    scenario: { type: 'string', default: 'shop' },
    plant: { type: 'string' },
    planted: { type: 'boolean', default: false },
    first: { type: 'string' },
    jobs: { type: 'string', default: '1' },
  },
});

const DEFAULT_SEEDS = 200;
/** The last line of schedules that were run. */
const DONE = /^(\d+) schedules, .* per second of CPU time$/m;
/** Schedules after which a planted mistake counts as not found. */
const PLANTED_SEEDS = '3000';

function told({ invariant, message, schedule, trace }: SimulationFailure): string {
  const { seed, hosts, sessions, faults } = schedule;
  const last = trace.slice(-30).map((line) => `  ${line}\n`);
  return [
    `FAILED: ${invariant}\n  ${message}\n${last.join('')}`,
    `repeat it: npm run simulate -- --scenario ${values.scenario} --seed ${seed} --hosts ${hosts} --sessions ${sessions.join(',')} --faults '${faults.join(' ')}'\n`,
  ].join('');
}

/** Runs this file in a process of its own, and resolves with what it prints. `onText` gets that at once, too. */
async function spawned(args: readonly string[], onText: (text: string) => void = () => {}): Promise<string> {
  const options = ['--no-warnings', ...process.execArgv, fileURLToPath(import.meta.url)];
  const child = spawn(process.execPath, [...options, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.on('data', (chunk: Buffer) => onText(String(chunk)));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return stdout + stderr;
}

/** Replaces a text of a source before it is loaded. The result says whether it was loaded since. */
function grow({ file, text, instead }: Plant): () => boolean {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const parts = readFileSync(path, 'utf8').split(text);
  if (parts.length !== 2) throw new Error(`${file} holds this ${parts.length - 1} times: ${text}`);
  let isLoaded = false;
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (url !== `file://${path}`) return loaded;
      isLoaded = true;
      return { ...loaded, source: parts.join(instead) };
    },
  });
  return () => isLoaded;
}

async function run(): Promise<SimulationFailure | null> {
  const planted = PLANTS.find(({ name }) => name === values.plant);
  if (planted === undefined && values.plant !== undefined) throw new Error(`there is no planted mistake '${values.plant}'`);
  const isLoaded = planted === undefined ? () => true : grow(planted);
  const { replaySchedule, simulate } = await import('../../src/testing/index.ts');
  const scenario = values.scenario === 'repair' ? (await import('./repair.ts')).repair : (await import('./shop.ts')).shop;
  if (!isLoaded()) throw new Error(`${planted?.file} was loaded before the mistake was planted in it`);
  const { seed, hosts, sessions, faults } = values;
  if (seed !== undefined)
    return replaySchedule(scenario, {
      seed: Number(seed),
      ...defined({
        hosts: hosts === undefined ? undefined : Number(hosts),
        sessions: sessions?.split(',').map(Number),
        faults: faults?.split(' ').filter((fault) => fault !== ''),
      }),
    });
  const begun = performance.now();
  const before = process.cpuUsage();
  const onSchedule = (schedules: number): void => {
    if (schedules % 1000 !== 0) return;
    const rate = ((schedules * 1000) / (performance.now() - begun)).toFixed(1);
    const megabytes = (process.memoryUsage().heapUsed / 1e6).toFixed(0);
    process.stdout.write(`${schedules} schedules, ${rate}/s, ${megabytes} MB\n`);
  };
  const report = await simulate(scenario, {
    seeds: Number(values.seeds ?? DEFAULT_SEEDS),
    from: Number(values.from),
    onSchedule,
  });
  const { failure, rate, ...rest } = report;
  const { user, system } = process.cpuUsage(before);
  const perCpu = ((rest.schedules * 1e6) / (user + system)).toFixed(1);
  process.stdout.write(
    `${JSON.stringify(rest)}\n${rest.schedules} schedules, ${rate.toFixed(1)}/s, ${perCpu} per second of CPU time\n`,
  );
  return failure;
}

/** Whether the simulation finds a planted mistake, in words. */
async function search({ name, found, scenario }: Plant): Promise<{ readonly isFound: boolean; readonly text: string }> {
  const printed = await spawned(['--plant', name, '--scenario', scenario, '--seeds', values.seeds ?? PLANTED_SEEDS]);
  const invariant = /^FAILED: (.*)\n(.*)$/m.exec(printed);
  const after = DONE.exec(printed)?.[1];
  const seed = /--seed (\S+ .*)$/m.exec(printed)?.[1] ?? '';
  const isFound = found.includes(invariant?.[1] ?? '');
  const how =
    invariant === null
      ? `nothing after ${after} schedules ${after === undefined ? printed.slice(0, 400) : ''}`
      : `${invariant[1]}, schedule ${after}, --seed ${seed}`;
  return { isFound, text: `${isFound ? 'found ' : 'MISSED'} ${name}: ${how}` };
}

/** Does some work for each item, for so many items at the same time as there are jobs. */
async function inJobs<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const job = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, job));
}

async function plantAll(): Promise<boolean> {
  const chosen = PLANTS.slice(0, values.first === undefined ? PLANTS.length : Number(values.first));
  let missed = 0;
  await inJobs(chosen, async (plant) => {
    const { isFound, text } = await search(plant);
    missed += isFound ? 0 : 1;
    process.stdout.write(`${text}\n`);
  });
  process.stdout.write(`${chosen.length - missed} of ${chosen.length} planted mistakes found\n`);
  return missed === 0;
}

/** Runs the schedules in several processes, each of which takes a part of the seeds. */
async function runAll(): Promise<boolean> {
  const jobs = Number(values.jobs);
  const share = Math.ceil(Number(values.seeds ?? DEFAULT_SEEDS) / jobs);
  let isGood = true;
  await inJobs(
    Array.from({ length: jobs }, (_, job) => Number(values.from) + job * share),
    async (from) => {
      const printed = await spawned(['--scenario', values.scenario, '--seeds', String(share), '--from', String(from)], (text) =>
        process.stdout.write(text),
      );
      isGood &&= DONE.test(printed) && !printed.includes('FAILED');
    },
  );
  return isGood;
}

async function runHere(): Promise<boolean> {
  const failure = await run();
  if (failure !== null) process.stdout.write(told(failure));
  return failure === null;
}

const isAlone = Number(values.jobs) === 1 || values.seed !== undefined;
const isGood = values.planted ? await plantAll() : isAlone ? await runHere() : await runAll();
process.exitCode = isGood ? 0 : 1;
