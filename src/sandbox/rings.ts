import { defaultLimits } from '../wire/limits.ts';
import { EMPTY_RUN } from '../wire/protocol.ts';
import { findCgroups } from './cgroup.ts';
import { requiredScopes } from './launch.ts';
import type { LauncherChoice } from './launcher.ts';
import { tellsStats } from './processstats.ts';
import { Sandbox } from './sandbox.ts';

/** The state of one of the three rings on this machine. */
export interface Ring {
  readonly ring: 1 | 2 | 3;
  readonly name: 'interpreter' | 'isolate' | 'process';
  /** Whether the ring has everything that SECURITY.md promises for it. */
  readonly complete: boolean;
  readonly active: readonly string[];
  readonly missing: readonly Lack[];
}

/** A missing part of a ring, and what to do about it. */
export interface Lack {
  /** The missing part, in words. */
  readonly what: string;
  /** What an operator can do about it. */
  readonly todo: string;
}

/** Scopes of Node's permission model that are closed to a worker, in words. */
const SCOPES: ReadonlyMap<string, string> = new Map([
  ['fs.read', 'reading files'],
  ['fs.write', 'writing files'],
  ['child', 'starting processes'],
  ['worker', 'starting threads'],
  ['addon', 'loading native code'],
  ['wasi', 'WASI'],
  ['inspector', 'the inspector'],
  ['net', 'the network'],
  ['ffi', 'calling native functions'],
]);

/** Scopes that need system calls which the filter denies. The filter closes them even if Node's permission model does not. */
const BY_FILTER: ReadonlySet<string> = new Set(['fs.read', 'fs.write', 'child', 'addon', 'net']);

/**
 * Starts a sandbox, breaches limits in it, and reports which rings are complete. Throws `ConfigError` when the sandbox cannot be
 * started, for instance because the launcher is `required` and this machine has none.
 */
export async function examineRings(launcher: LauncherChoice): Promise<readonly Ring[]> {
  await using sandbox = await Sandbox.create({ concurrency: 1, launcher });
  const spent = await breach(sandbox, 'fuel', 1_000);
  const timed = await breach(sandbox, 'cpuMs', 5);
  const report = 'report it, please: this is a defect';
  return [
    ring(
      1,
      'interpreter',
      [],
      [
        {
          holds: spent,
          active: 'fuel, memory, sizes, depth, output and calls are metered',
          missing: { what: 'an endless loop was not ended by its fuel', todo: report },
        },
      ],
    ),
    ring(
      2,
      'isolate',
      [`V8 ${process.versions.v8}, a fresh isolate for every run`],
      [
        {
          holds: timed,
          active: 'CPU time is read from the isolate',
          missing: { what: 'an endless loop was not ended by its CPU time', todo: report },
        },
      ],
    ),
    ring(3, 'process', ['a killable process with an empty environment', cgroupWords()], processFacts(sandbox)),
  ];
}

interface Fact {
  readonly holds: boolean;
  /** The text when the fact holds; `missing` is the text when it does not. */
  readonly active: string;
  readonly missing: Lack;
}

/** What the third ring of a sandbox lacks on this machine. */
export function lacksOf(sandbox: Pick<Sandbox, 'launcher' | 'confinement'>): readonly Lack[] {
  return processFacts(sandbox).flatMap(({ holds, missing }) => (holds ? [] : [missing]));
}

function processFacts({ launcher, confinement }: Pick<Sandbox, 'launcher' | 'confinement'>): readonly Fact[] {
  const closed = new Set(requiredScopes());
  const { cage } = launcher;
  const confined = cage !== null;
  const reason = launcher.reason ?? 'no reason is known';
  return [
    {
      holds: confined,
      active: `${cage?.name}: own namespaces for processes, network, users and messages, a read-only root, no rights of root`,
      missing: { what: `the operating system does not confine the workers: ${reason}`, todo: adviceOn(reason) },
    },
    {
      holds: !confinement.has('calls'),
      active: 'a filter of system calls',
      missing: {
        what: `a worker that was taken over could use every system call: ${confinement.get('calls')}`,
        todo: "install the package 'bubblewrap', or run on Linux, where workers filter their calls themselves: on x64, and on arm64 with Node 26",
      },
    },
    {
      holds: !confinement.has('resources'),
      active: 'resource limits: no new files, nothing written to files, no core dumps',
      missing: {
        what: `a worker that was taken over could open files: ${confinement.get('resources')}`,
        todo: "install 'prlimit' (package 'util-linux'); the host uses it on Linux",
      },
    },
    {
      holds: tellsStats(),
      active: 'memory, page tables, threads, CPU time of all threads, processes and descriptors are watched from outside',
      missing: {
        what: 'what a worker takes from the system cannot be seen from outside: there is no /proc',
        todo: 'run on Linux; elsewhere only the wall clock ends a worker that is wedged',
      },
    },
    ...[...SCOPES].map(
      ([scope, what]): Fact => ({
        holds: closed.has(scope) || confined || (BY_FILTER.has(scope) && !confinement.has('calls')),
        active: `denied: ${what}`,
        missing: {
          what: `a worker that was taken over could use ${what}: Node ${process.version} cannot deny it`,
          todo: 'use Node 26, or the launcher',
        },
      }),
    ),
  ];
}

/** What the kernel bounds of each worker. The ring is complete without it, because the host watches what it does not bound. */
function cgroupWords(): string {
  const found = findCgroups();
  return typeof found === 'string'
    ? `workers have no cgroups: ${found}`
    : 'each worker has a cgroup of its own: the kernel bounds its memory and its threads';
}

/** Advice for a machine without a launcher, by the messages of launchers or of this program. The first match counts. */
const ADVICE: readonly (readonly [said: RegExp, todo: string])[] = [
  [/switched off/, "leave '--launcher none' out"],
  [
    /No space left on device/,
    "let users make namespaces: 'sysctl user.max_user_namespaces' is 0 or used up; in a container, see docs/security.md",
  ],
  [
    /Operation not permitted|Permission denied|ermission|not allow|namespaces/,
    'let users make namespaces: sysctl kernel.unprivileged_userns_clone=1, on Ubuntu an AppArmor profile for bwrap; in a container, see docs/security.md',
  ],
  [/is for Linux|is for x64/, 'run the host on Linux (x64 or arm64), or in a container or virtual machine of its own'],
  [/loader/, 'use a Node that was built for the GNU C library, or run the host in a container of its own'],
  [/not installed/, "install the package 'bubblewrap' (Debian, Ubuntu: apt-get install bubblewrap)"],
];

function adviceOn(reason: string): string {
  return ADVICE.find(([said]) => said.test(reason))?.[1] ?? 'see docs/security.md for what a launcher needs';
}

function ring(number: Ring['ring'], name: Ring['name'], active: readonly string[], facts: readonly Fact[]): Ring {
  const missing = facts.filter(({ holds }) => !holds).map((fact) => fact.missing);
  return {
    ring: number,
    name,
    complete: missing.length === 0,
    active: [...active, ...facts.filter(({ holds }) => holds).map((fact) => fact.active)],
    missing,
  };
}

/** Whether this limit ends an endless loop. */
async function breach(sandbox: Sandbox, limit: 'fuel' | 'cpuMs', value: number): Promise<boolean> {
  const sources = [{ name: 'doctor', text: 'command\n  while true\n    set n = 1\n  endwhile\nendcommand\n' }];
  const { result } = await sandbox.run(
    { ...EMPTY_RUN, sources, limits: { ...defaultLimits('run'), [limit]: value } },
    { onOut() {}, onCall: async () => ({ t: 'ok', value: null }) },
  );
  return result.error?.code === 'ERR_QUOTA' && result.error.limit === limit;
}
