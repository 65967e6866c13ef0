import type { CensusRow, HostState, SessionCoordinator } from '../../loop/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import { VERSION } from '../../runtime/version.ts';

/** What a scrape sees of a host. */
export interface HostView {
  readonly state: HostState;
  readonly leasesLost: SessionCoordinator['leasesLost'];
  readonly runtimes: readonly Runtime[];
  /** Optional servers of tools that cannot be used. */
  readonly toolServersAway: number;
  /** Open sessions of the store; null when it did not answer. */
  readonly census: readonly CensusRow[] | null;
  /** Whether each part that the host needs works. */
  readonly parts: readonly { readonly name: string; readonly problem: string | null }[];
  /** Unix milliseconds. */
  readonly now: number;
}

type Labels = Readonly<Record<string, string>>;
type Rows = readonly (readonly [labels: Labels, value: number])[];

export function gauges({ state, leasesLost, runtimes, toolServersAway, census, parts, now }: HostView): string {
  const loads = runtimes.map((runtime) => runtime.stats());
  const sum = (of: (load: (typeof loads)[number]) => number): number => loads.reduce((all, load) => all + of(load), 0);
  const waiting = (census ?? []).filter((row) => row.state === 'waiting');
  const since = waiting.flatMap((row) => (row.since === null ? [] : [row.since]));
  const { rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const one = (value: number): Rows => [[{}, value]];
  const metrics: readonly (readonly [name: string, type: 'gauge' | 'counter', help: string, rows: Rows])[] = [
    ['host_ready', 'gauge', 'Whether the host claims sessions.', one(Number(state.status === 'ready'))],
    ['host_sessions', 'gauge', 'Sessions that the host drives now.', one(state.driving)],
    ['host_concurrency', 'gauge', 'Most sessions that the host drives at a time.', one(state.concurrency)],
    ['host_claims_total', 'counter', 'Sessions that the host has claimed.', one(state.claimed)],
    ['host_profiles_away', 'gauge', 'Profiles whose agents give no reply, so that the host claims less.', one(state.away.length)],
    [
      'host_errors_total',
      'counter',
      'Sessions that could not be driven, and requests without an answer of the store.',
      one(state.errors),
    ],
    ['leases_lost_total', 'counter', 'Turns that the host gave up because it could not keep their lease.', one(leasesLost)],
    [
      'part_up',
      'gauge',
      'Whether store and log work.',
      parts.map(({ name, problem }) => [{ part: name }, Number(problem === null)]),
    ],
    [
      'sessions',
      'gauge',
      'Open sessions of the store, of tenants and of none.',
      (census ?? []).map((row) => [{ state: row.state, class: row.class }, row.count]),
    ],
    [
      'people_waiting',
      'gauge',
      'Sessions of the store that wait for an answer.',
      census === null ? [] : one(waiting.reduce((all, row) => all + row.count, 0)),
    ],
    [
      'people_waiting_seconds',
      'gauge',
      'How long the first of them has waited.',
      census === null ? [] : one(since.length === 0 ? 0 : Math.max(0, now - Math.min(...since)) / 1000),
    ],
    [
      'workers',
      'gauge',
      'Worker processes.',
      [
        [{ state: 'idle' }, sum(({ idle }) => idle)],
        [{ state: 'computing' }, sum(({ computing }) => computing)],
        [{ state: 'waiting' }, sum(({ waitingForHost }) => waitingForHost)],
      ],
    ],
    [
      'tool_servers_away',
      'gauge',
      'Optional servers of tools that could not be used, so that their tools are absent.',
      one(toolServersAway),
    ],
    ['queued_runs', 'gauge', 'Programs that wait for a worker.', one(sum(({ queued }) => queued))],
    [
      'process_resident_memory_bytes',
      'gauge',
      'Resident memory.',
      [
        [{ process: 'host' }, rss],
        [{ process: 'workers' }, sum(({ rssBytes }) => rssBytes)],
      ],
    ],
    [
      'process_cpu_seconds',
      'gauge',
      'CPU time of the host and of the workers that live.',
      [
        [{ process: 'host' }, (user + system) / 1e6],
        [{ process: 'workers' }, sum(({ cpuMs }) => cpuMs) / 1000],
      ],
    ],
    [
      'ring_complete',
      'gauge',
      'Whether the operating system confines the workers completely.',
      [[{ ring: '3' }, Number(runtimes.every(({ lacks }) => lacks.length === 0))]],
    ],
    ['build_info', 'gauge', 'Version of the package and of Node.', [[{ version: VERSION, node: process.versions.node }, 1]]],
  ];
  return metrics
    .map(([name, type, help, rows]) => {
      const lines = rows.map(([labels, value]) => `neuroscript_${name}${labelText(labels)} ${value}`);
      return [`# HELP neuroscript_${name} ${help}`, `# TYPE neuroscript_${name} ${type}`, ...lines, ''].join('\n');
    })
    .join('');
}

function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}
