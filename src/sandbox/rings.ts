import { requiredScopes } from './launch.ts';
import type { LauncherChoice } from './launcher.ts';
import { defaultLimits } from './limits.ts';
import { openMeter } from './meter.ts';
import { Sandbox } from './sandbox.ts';

/** One of the three rings as it stands on this machine. */
export interface Ring {
  readonly ring: 1 | 2 | 3;
  readonly name: 'interpreter' | 'isolate' | 'process';
  /** Whether it holds everything that SECURITY.md promises of it. */
  readonly complete: boolean;
  readonly active: readonly string[];
  /** What is missing and what to do about it, a sentence each. */
  readonly missing: readonly string[];
}

/** Scopes of Node's permission model that a worker does without, for people. */
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

/**
 * Starts a sandbox, breaches limits in it, and tells which rings are complete. Throws `ConfigError` when it cannot be started,
 * for instance because `required` asks for a launcher that this machine does not have.
 */
export async function examineRings(launcher: LauncherChoice): Promise<readonly Ring[]> {
  await using sandbox = await Sandbox.create({ concurrency: 1, launcher });
  const spent = await breach(sandbox, 'fuel', 1_000);
  const timed = await breach(sandbox, 'cpuMs', 5);
  return [
    ring(
      1,
      'interpreter',
      [],
      [
        [
          spent,
          'fuel, memory, depth, output and calls are metered',
          'an endless loop was not ended by its fuel: please report it',
        ],
      ],
    ),
    ring(
      2,
      'isolate',
      [`V8 ${process.versions.v8}, a fresh isolate for every run`],
      [[timed, 'CPU time is read from the isolate', 'an endless loop was not ended by its CPU time: please report it']],
    ),
    ring(3, 'process', ['a killable process with an empty environment'], processFacts(sandbox)),
  ];
}

/** Whether it holds, what it is when it does, what to do when it does not. */
type Fact = readonly [holds: boolean, active: string, missing: string];

function processFacts({ launcher }: Sandbox): readonly Fact[] {
  const closed = new Set(requiredScopes());
  const caged = launcher.bubblewrap !== null;
  const cage =
    'bubblewrap: own namespaces for processes, network, users and messages, a read-only root, a filter of system calls';
  return [
    [caged, cage, `the system's cage for workers is not active: ${launcher.reason ?? 'no reason is known'}`],
    [
      openMeter(process.pid) !== null,
      'memory and CPU time are watched from outside',
      'this system does not show them (no /proc)',
    ],
    ...[...SCOPES].map(([scope, what]): Fact => {
      const held = closed.has(scope) || caged;
      return [
        held,
        `denied: ${what}`,
        `a worker that was taken over could use ${what}: Node ${process.version} cannot deny it; use Node 26`,
      ];
    }),
  ];
}

function ring(number: Ring['ring'], name: Ring['name'], active: readonly string[], facts: readonly Fact[]): Ring {
  const missing = facts.filter(([holds]) => !holds).map(([, , text]) => text);
  return {
    ring: number,
    name,
    complete: missing.length === 0,
    active: [...active, ...facts.filter(([holds]) => holds).map(([, text]) => text)],
    missing,
  };
}

/** Whether an endless loop ends with the quota of this limit. */
async function breach(sandbox: Sandbox, limit: 'fuel' | 'cpuMs', value: number): Promise<boolean> {
  const { result } = await sandbox.run(
    {
      sources: [{ name: 'doctor', text: 'command\n  while true\n    set n = 1\n  endwhile\nendcommand\n' }],
      globals: {},
      call: null,
      events: [],
      limits: { ...defaultLimits('run'), [limit]: value },
      forkId: 'doctor',
      turn: false,
      stdin: false,
    },
    { onOut() {}, onCall: async () => ({ t: 'ok', value: null }) },
  );
  return result.error?.code === 'ERR_QUOTA' && result.error.limit === limit;
}
