import { createRuntime, defineTool, type Runtime } from '../src/entries/index.ts';
import { pureTools } from '../stdlib-tools/index.ts';
import { performRight, textsOf } from './ours.ts';
import { PEER_ROWS } from './peerrows.ts';
import { type PromiseRow, ratio } from './promises.ts';
import { summarize } from './stats.ts';

/** The workloads that compute, once each. */
const NAMES = [
  'loop 1 M',
  'fib(25)',
  '30 calls deep × 1,000',
  'append 10 k',
  'map set 10 k',
  'text of 20 k pieces',
  'split + sort 100 k',
  'words of 1 MB',
  '10 k records transformed',
];

const MAIL = defineTool({ name: 'tool.mail.Send', args: [{ name: 'to', type: 'string' }], run: () => null });
const FLOW = { labels: { 'tool.web.*': ['web'] }, sinks: { 'tool.mail.Send': { refuse: ['web'] } } };

/** CPU time of each workload under rules about origin, divided by that without. No value of a workload carries a label. */
export async function measureRules(rounds: number): Promise<PromiseRow[]> {
  const tools = [...pureTools('str', 'list'), MAIL];
  await using plain = await createRuntime({ tools, policy: { allow: ['*'] } });
  await using ruled = await createRuntime({ tools, policy: { allow: ['*'], flow: FLOW } });
  const found: PromiseRow[] = [];
  for (const name of NAMES) {
    const times = [plain, ruled].map((runtime) => ({ runtime, ms: [] as number[] }));
    for (let round = 0; round < rounds; round++)
      for (const { runtime, ms } of round % 2 === 0 ? times : times.toReversed()) ms.push(await cpuMs(runtime, name));
    const [without, under] = times.map(({ ms }) => summarize(ms));
    found.push(ratio(`${name}, CPU time under rules about origin`, [under ?? null, without ?? null], 'ms', ['most', 1.3]));
  }
  return found;
}

async function cpuMs(runtime: Runtime, name: string): Promise<number> {
  const row = PEER_ROWS.find((each) => each.name === name);
  if (row === undefined) throw new Error(`there is no workload ${name}`);
  return (await performRight(runtime, textsOf(row.neuroscript), row.result)).usage.cpuMs;
}
