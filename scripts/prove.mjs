// The long forms of what .ci/run checks briefly: every benchmark in full, a soak with attackers, and with attackers of three tenants in kept isolates, fuzzing, a million runs of foreseen
// programs, fifty thousand simulated schedules, a million of programs that are corrected, a million runs in kept isolates, a million programs under rules about origin, a hundred thousand with the labels of the second interpreter, and every planted mistake, a thousand kills of the gate's executor, every state of an approval
// within four moves and of a session, a loop of v1 and a policy within two or three, twenty rounds of the failure matrix of hosts, three of what their operators see, half an hour of steady load, and stores with
// a million sessions. Takes about three hours on two quiet cores, and `repair` three more; titles as arguments run those steps alone. A benchmark has three
// tries, because other work of the machine disturbs one; the step's line says which try kept all promises. The last line is
// `N passed, N failed`.
import { spawnSync } from 'node:child_process';

const bench = (name, ...flags) => ['npm', ['run', '--silent', 'bench', '--', name, ...flags]];
const promises = (name) => [...bench(name), {}, 3];
const STEPS = new Map([
  ['quotas', promises('quotas')],
  ['turns', promises('turns')],
  ['interp', promises('interp')],
  ['prices', promises('prices')],
  ['contexts', promises('contexts')],
  ['tokens', promises('tokens')],
  ['loop', promises('loop')],
  ['suspend', promises('suspend')],
  ['attackers', ['node', ['--no-warnings', 'test/attack/soak.ts', '600']]],
  ['tenants', ['npx', ['vitest', 'run', 'test/attack/tenants.test.ts'], { TENANTS_SECONDS: '600' }]],
  ['fuzz', ['npm', ['run', '--silent', 'fuzz', '--', '--seconds', '600', '--seed', String(Date.now() % 1_000_000)]]],
  ['together', ['npx', ['vitest', 'run', 'test/runtime/together.test.ts'], { TOGETHER_SEEDS: '100000' }]],
  ['foreseen', ['npm', ['run', '--silent', 'foreseen', '--', '--programs', '250000', '--seed', String(Date.now() % 1_000_000)]]],
  ['simulate', ['npm', ['run', '--silent', 'simulate', '--', '--seeds', '50000', '--from', String(Date.now() % 1_000_000)]]],
  [
    'repair',
    [
      'npm',
      [
        'run',
        '--silent',
        'simulate',
        '--',
        '--scenario',
        'repair',
        '--seeds',
        '1000000',
        '--from',
        String(Date.now() % 1_000_000),
        '--jobs',
        '2',
      ],
    ],
  ],
  [
    'warm',
    ['node', ['--no-warnings', 'test/sandbox/warm/main.ts', '--runs', '1000000', '--seed', String(Date.now() % 1_000_000)]],
  ],
  [
    'flow',
    ['node', ['--no-warnings', 'test/guest/flow/main.ts', '--programs', '1000000', '--seed', String(Date.now() % 1_000_000)]],
  ],
  [
    'labels',
    [
      'node',
      ['--no-warnings', 'test/guest/flow/main.ts', '--second', '--programs', '100000', '--seed', String(Date.now() % 1_000_000)],
    ],
  ],
  ['planted', ['npm', ['run', '--silent', 'simulate', '--', '--planted']]],
  ['receipts', ['npx', ['vitest', 'run', 'test/receipt'], { RECEIPT_STEP: '1' }]],
  ['grammar', ['npx', ['vitest', 'run', 'test/grammar/decoder/samples.test.ts'], { GRAMMAR_SAMPLES: '25000' }]],
  ['judge', ['bash', ['-c', 'npm --prefix apps/lab/grammar ci && npm --prefix apps/lab/grammar run judge']]],
  ['gate', ['npx', ['vitest', 'run', 'test/gate/crash.test.ts'], { GATE_KILLS: '1000' }]],
  ['crash', ['npx', ['vitest', 'run', 'test/loop/crash.test.ts'], { CRASH_KILLS: '200' }]],
  ['states', ['node', ['--no-warnings', 'test/gate/states/main.ts', '--moves', '4']]],
  ['decisions', ['node', ['--no-warnings', 'test/loop/states/main.ts', '--moves', '2', '--steps', '2']]],
  ['loops', ['node', ['--no-warnings', 'test/loop/v1/states/main.ts', '--turns', '3', '--lines', '2']]],
  ['policies', ['node', ['--no-warnings', 'test/tools/states/main.ts', '--calls', '2']]],
  ['demo', ['npm', ['run', '--silent', 'demo:cluster']]],
  [
    'cluster',
    [
      'npx',
      ['vitest', 'run', '--project=engines', '--retry=0', '--reporter=verbose', 'engines/matrix.test', 'engines/failures.test'],
      { MATRIX_ROUNDS: '20' },
    ],
  ],
  [
    'operations',
    ['npx', ['vitest', 'run', '--retry=0', '--reporter=verbose', 'engines/cli.test', 'cli/reload.test'], { MATRIX_ROUNDS: '3' }],
  ],
  ['steady', ['node', ['--no-warnings', 'test/engines/steady.ts', '1800']]],
  [
    'stores',
    ['bash', ['-c', 'npm --prefix apps/lab/engines ci --ignore-scripts && npm --prefix apps/lab/engines run bench -- --long']],
  ],
  ['machine', ['npm', ['run', '--silent', 'test:machine']]],
]);

const wanted = process.argv.slice(2);
const unknown = wanted.filter((title) => !STEPS.has(title));
if (unknown.length > 0) {
  process.stderr.write(`no step ${unknown.join(', ')}; there are ${[...STEPS.keys()].join(', ')}\n`);
  process.exit(2);
}

let failed = 0;
let passed = 0;
for (const [title, [command, args, env = {}, tries = 1]] of STEPS) {
  if (wanted.length > 0 && !wanted.includes(title)) continue;
  process.stdout.write(`== ${title}\n`);
  const run = () => spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...env } }).status === 0;
  let made = 1;
  let good = run();
  for (; !good && made < tries; made++) good = run();
  if (good) passed += 1;
  else failed += 1;
  process.stdout.write(`${good ? 'ok' : 'FAILED'}     ${title}${made > 1 ? `, try ${made}` : ''}\n`);
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
