import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageFiles, Sandbox } from '../src/sandbox/index.ts';
import { defaultLimits } from '../src/wire/limits.ts';
import { EMPTY_RUN } from '../src/wire/protocol.ts';
import { type PromiseRow, ratio } from './promises.ts';
import { summarize } from './stats.ts';
import { CALLS, LOOP, type Workload } from './workloads.ts';

/** How the built interpreter pays: `const left = m.untilCheck - n; m.untilCheck = left; if (left < 0) m.refill(at)`, as the bundler writes it. */
const PRICE = /([\w$]+)=([\w$]+)\.untilCheck-[\w$.]+(?=[;,])/g;
const PAYMENT = /([\w$]+)\.untilCheck=([\w$]+),\2<0&&\1\.refill\([\w$.]+\)/g;
/** The same without the local variable. */
const SHORT = /([\w$]+)\.untilCheck-=[\w$.]+,\1\.untilCheck<0&&\1\.refill\([\w$.]+\)/g;
/** Of two statements at once: `const left = m.untilCheck - n; if (left < 0 || !done(frame)) return one(frame); m.untilCheck = left`. */
const TOGETHER = /([\w$]+)<0\|\|(![\w$]+\([\w$]+\)\?[\w$]+\([\w$]+\)):\([\w$]+\.untilCheck=\1,/g;
/** `Machine.pay` and `Machine.hasten`: payment for work on data, and for work that takes time only. */
const PAY = /\b((?:pay|hasten)\(\{[^{}]*\}(?:,[\w$=]*)?\))\{[^{}]*\.refill\(this\.at\)[^{}]*\}/g;
/** Least number of places that pay. Fewer mean that the bundler writes them differently now. */
const PLACES = 6;

/** How often a run repeats its workload: the time in which V8 warms up varies by more than fuel costs. A quick run does not judge that. */
const TIMES = { whole: 5, quick: 1 } as const;
/** Most pairs of processes. The layout of compiled code makes some faster than others for as long as they live. */
const PROCESSES = 10;

/**
 * What counting fuel costs: the CPU time in the isolate, divided by that of the same interpreter with every payment cut out of its text.
 * Both do the same work right after each other, in alternating order. The interpreter without payments exists
 * only in a temporary folder while this runs.
 */
export async function measureFuel(rounds: number, quick: boolean): Promise<PromiseRow[]> {
  const times = TIMES[quick ? 'quick' : 'whole'];
  const { worker, guest } = packageFiles();
  const folder = mkdtempSync(join(tmpdir(), 'neuroscript-bench-'));
  try {
    const free = join(folder, 'guest.js');
    writeFileSync(free, unmetered(readFileSync(guest, 'utf8')));
    const processes = Math.min(PROCESSES, rounds);
    // An even number: the order alternates from pair to pair.
    const each = 2 * Math.ceil(rounds / processes / 2);
    const lanes = [LOOP, CALLS].map((workload) => ({ workload, paid: [] as number[], free: [] as number[] }));
    for (let process = 0; process < processes; process++) {
      await using metered = await Sandbox.create({ concurrency: 1, launcher: 'none' });
      await using unpaid = await Sandbox.create({ concurrency: 1, launcher: 'none', files: { worker, guest: free } });
      // The first pair warms up.
      for (const { workload, paid, free: unmetered } of lanes)
        for (let round = -1; round < each; round++) {
          const [first, second] = round % 2 === 0 ? [true, false] : [false, true];
          for (const pays of [first, second]) {
            const ms = await cpuMs(pays ? metered : unpaid, workload, times, pays);
            if (round >= 0) (pays ? paid : unmetered).push(ms);
          }
        }
    }
    return lanes.map(({ workload, paid, free: unmetered }) => {
      const what = `${workload.name}, ${times} times, with fuel by without`;
      return ratio(what, [summarize(paid), summarize(unmetered)], 'ms', ['most', 1.2]);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The interpreter without payments. Throws when it does not look as expected. */
export function unmetered(guest: string): string {
  const rest = guest.replace(PAY, '$1{}');
  const count = (text: string, form: RegExp): number => text.match(form)?.length ?? 0;
  const [payments, together] = [count(rest, PAYMENT), count(rest, TOGETHER)];
  const places = payments + count(rest, SHORT);
  const known = count(guest, PAY) === 2 && together === 2 && payments + together === count(rest, PRICE);
  if (places < PLACES || !known || places !== rest.split('.refill(').length - 1)
    throw new Error(`the built interpreter pays in ${places} known places; adapt bench/fuel.ts to how it is built now`);
  return rest.replace(TOGETHER, '$2:(').replace(PRICE, '$1=0').replace(PAYMENT, '0').replace(SHORT, '0');
}

/** More than the host counts for one emit, and much less than a program pays. */
const EMIT_FUEL = 10;

async function cpuMs(
  sandbox: Sandbox,
  { neuroscript: { library, commands }, result }: Workload,
  times: number,
  pays: boolean,
): Promise<number> {
  const values: unknown[] = [];
  const texts = [library ?? '', ...Array<string>(times).fill(commands)];
  const sources = texts.map((text, index) => ({ name: `${index}.ns`, text }));
  const outcome = await sandbox.run(
    { ...EMPTY_RUN, sources, limits: defaultLimits('run') },
    {
      onOut: (out) => values.push(...out.values),
      onCall: () => Promise.reject(new Error('the program calls nothing')),
    },
  );
  const { error } = outcome.result;
  if (error !== null) throw new Error(`${error.code}: ${error.message}`);
  // The host counts a few units for each emit, whatever the interpreter says.
  if (values.length !== times || values.some((value) => value !== result) || outcome.usage.fuel > times * EMIT_FUEL !== pays)
    throw new Error(`a program gave ${values.join(' ')} for ${outcome.usage.fuel} fuel`);
  return outcome.usage.cpuMs;
}
