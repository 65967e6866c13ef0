/**
 * `npm run simulate`: runs the scenario of `shop.ts` in many worlds. With `--seed` and what a failure prints, it repeats one schedule.
 * `--planted` plants every mistake of `plants.ts` by itself, in a process of its own, and each must be found.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { SimulationFailure } from '../../src/testing/index.ts';
import { PLANTS, type Plant } from './plants.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    hosts: { type: 'string' },
    sessions: { type: 'string' },
    faults: { type: 'string' },
    plant: { type: 'string' },
    planted: { type: 'boolean', default: false },
    first: { type: 'string' },
  },
});

/** Schedules after which a planted mistake counts as not found. */
const PLANTED_SEEDS = '3000';

function told({ invariant, message, schedule, trace }: SimulationFailure): string {
  const { seed, hosts, sessions, faults } = schedule;
  const last = trace.slice(-30).map((line) => `  ${line}\n`);
  return [
    `FAILED: ${invariant}\n  ${message}\n${last.join('')}`,
    `repeat it: npm run simulate -- --seed ${seed} --hosts ${hosts} --sessions ${sessions.join(',')} --faults '${faults.join(' ')}'\n`,
  ].join('');
}

/** Replaces a text of a source before it is loaded. */
function grow({ file, text, instead }: Plant): void {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const parts = readFileSync(path, 'utf8').split(text);
  if (parts.length !== 2) throw new Error(`${file} holds this ${parts.length - 1} times: ${text}`);
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      return url === `file://${path}` ? { ...loaded, source: parts.join(instead) } : loaded;
    },
  });
}

async function run(): Promise<SimulationFailure | null> {
  const planted = PLANTS.find(({ name }) => name === values.plant);
  if (planted !== undefined) grow(planted);
  else if (values.plant !== undefined) throw new Error(`there is no planted mistake '${values.plant}'`);
  const { replaySchedule, simulate } = await import('../../src/testing/index.ts');
  const { shop } = await import('./shop.ts');
  const { seed, hosts, sessions, faults } = values;
  if (seed !== undefined)
    return replaySchedule(shop, {
      seed: Number(seed),
      ...(hosts === undefined ? {} : { hosts: Number(hosts) }),
      ...(sessions === undefined ? {} : { sessions: sessions.split(',').map(Number) }),
      ...(faults === undefined ? {} : { faults: faults.split(' ').filter((fault) => fault !== '') }),
    });
  const begun = performance.now();
  const onSchedule = (schedules: number): void => {
    if (schedules % 1000 !== 0) return;
    const rate = ((schedules * 1000) / (performance.now() - begun)).toFixed(1);
    const megabytes = (process.memoryUsage().heapUsed / 1e6).toFixed(0);
    process.stdout.write(`${schedules} schedules, ${rate}/s, ${megabytes} MB\n`);
  };
  const report = await simulate(shop, { seeds: Number(values.seeds ?? 200), from: Number(values.from), onSchedule });
  const { failure, rate, ...rest } = report;
  process.stdout.write(`${JSON.stringify(rest)}\n${rest.schedules} schedules, ${rate.toFixed(1)}/s\n`);
  return failure;
}

/** Whether the simulation finds a planted mistake, in words. */
function search({ name, found }: Plant): { readonly isFound: boolean; readonly text: string } {
  const args = ['--no-warnings', fileURLToPath(import.meta.url), '--plant', name, '--seeds', values.seeds ?? PLANTED_SEEDS];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const invariant = /^FAILED: (.*)\n(.*)$/m.exec(stdout);
  const after = /^(\d+) schedules, [\d.]+\/s$/m.exec(stdout)?.[1];
  const seed = /--seed (\S+ .*)$/m.exec(stdout)?.[1] ?? '';
  const isFound = found.includes(invariant?.[1] ?? '');
  const how =
    invariant === null
      ? `nothing after ${after} schedules ${stderr.slice(0, 400)}`
      : `${invariant[1]}, schedule ${after}, --seed ${seed}`;
  return { isFound, text: `${isFound ? 'found ' : 'MISSED'} ${name}: ${how}` };
}

if (values.planted) {
  const chosen = PLANTS.slice(0, values.first === undefined ? PLANTS.length : Number(values.first));
  let missed = 0;
  for (const plant of chosen) {
    const { isFound, text } = search(plant);
    missed += isFound ? 0 : 1;
    process.stdout.write(`${text}\n`);
  }
  process.stdout.write(`${chosen.length - missed} of ${chosen.length} planted mistakes found\n`);
  process.exitCode = missed === 0 ? 0 : 1;
} else {
  const failure = await run();
  if (failure !== null) process.stdout.write(told(failure));
  process.exitCode = failure === null ? 0 : 1;
}
