import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultLimits, packageFiles, Sandbox } from '../src/sandbox/index.ts';
import { judged, type PromiseRow } from './promises.ts';
import { summarize } from './stats.ts';
import { CALLS, LOOP, type Workload } from './workloads.ts';

/** How the built interpreter pays: `const left = m.left - n; m.left = left; if (left < 0) m.refill(at)`, as the bundler writes it. */
const PRICE = /([\w$]+)=([\w$]+)\.left-[\w$.]+(?=[;,])/g;
const PAYMENT = /([\w$]+)\.left=([\w$]+),\2<0&&\1\.refill\([\w$.]+\)/g;
/** The same without the local variable. */
const SHORT = /([\w$]+)\.left-=[\w$.]+,\1\.left<0&&\1\.refill\([\w$.]+\)/g;
/** So many places at least pay; fewer found means that the bundle is written differently now. */
const PLACES = 6;

/**
 * What counting fuel costs: the least CPU time in the isolate, by that of the same interpreter with every payment cut out of its
 * text. The least, because whatever else the machine does only ever adds.
 * Such an interpreter exists in a temporary folder while this runs, and nowhere else.
 */
export async function measureFuel(rounds: number): Promise<PromiseRow[]> {
  const { worker, guest } = packageFiles();
  const folder = mkdtempSync(join(tmpdir(), 'neuroscript-bench-'));
  try {
    const free = join(folder, 'guest.js');
    writeFileSync(free, unmetered(readFileSync(guest, 'utf8')));
    await using metered = await Sandbox.create({ concurrency: 1, launcher: 'none' });
    await using unpaid = await Sandbox.create({ concurrency: 1, launcher: 'none', files: { worker, guest: free } });
    const found: PromiseRow[] = [];
    for (const workload of [LOOP, CALLS]) {
      const times: readonly [number[], number[]] = [[], []];
      for (let round = 0; round < 2 * rounds + 2; round++) {
        const both = [await cpuMs(metered, workload, true), await cpuMs(unpaid, workload, false)] as const;
        if (round >= 2) for (const [index, list] of times.entries()) list.push(both[index === 0 ? 0 : 1]);
      }
      const [paid, free] = times.map((list) => summarize(list)?.min ?? Number.NaN);
      const ratio = (paid ?? Number.NaN) / (free ?? Number.NaN);
      const what = `${workload.name} with fuel by without`;
      found.push(judged(what, ratio, { unit: 'x', bound: 'most', target: 1.15 }, 2 * rounds));
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The interpreter without payments. Throws when it does not look as expected. */
export function unmetered(guest: string): string {
  const count = (form: RegExp): number => guest.match(form)?.length ?? 0;
  const places = count(PAYMENT) + count(SHORT);
  if (places < PLACES || count(PAYMENT) !== count(PRICE) || places !== guest.split('.refill(').length - 1)
    throw new Error(`the built interpreter pays in ${places} known places; adapt bench/fuel.ts to how it is built now`);
  return guest.replace(PRICE, '$1=0').replace(PAYMENT, '0').replace(SHORT, '0');
}

async function cpuMs(sandbox: Sandbox, { neuroscript: { library, commands }, result }: Workload, pays: boolean): Promise<number> {
  const values: unknown[] = [];
  const outcome = await sandbox.run(
    {
      sources: [library ?? '', commands].map((text, index) => ({ name: `${index}.ns`, text })),
      globals: {},
      call: null,
      events: [],
      limits: defaultLimits('run'),
      forkId: 'bench',
      turn: false,
      stdin: false,
    },
    {
      onOut: (out) => values.push(...out.values),
      onCall: () => Promise.reject(new Error('the program calls nothing')),
    },
  );
  const { error } = outcome.result;
  if (error !== null) throw new Error(`${error.code}: ${error.message}`);
  if (values[0] !== result || outcome.usage.fuel > 0 !== pays)
    throw new Error(`a program gave ${values[0]} for ${outcome.usage.fuel} fuel`);
  return outcome.usage.cpuMs;
}
