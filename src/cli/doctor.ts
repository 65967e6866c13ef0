import type { Command } from 'commander';
import type { LauncherChoice } from '../sandbox/launcher.ts';
import { LIMITS } from '../sandbox/limits.ts';
import { examineRings, type Ring } from '../sandbox/rings.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { launcherOption } from './options.ts';
import { version } from './package.ts';
import type { Execute, Terminal } from './terminal.ts';

interface DoctorFlags {
  readonly json?: true;
  readonly launcher?: LauncherChoice;
}

const DETAILS = `
Starts a sandbox on this machine and breaches limits in it. Exits 0 when every ring is complete, 1 when something is
missing, 2 when the sandbox cannot be started. SECURITY.md says what each ring promises.
`;

/** `doctor`: which rings of the sandbox are complete on this machine, and what to do. */
export function addDoctor(program: Command, execute: Execute): void {
  program
    .command('doctor')
    .summary('tell how well the sandbox holds on this machine')
    .description('Tells which rings of the sandbox are complete on this machine, and what to do about what is missing.')
    .addOption(launcherOption())
    .option('--json', 'print one JSON object')
    .addHelpText('after', DETAILS)
    .action((flags: DoctorFlags) => execute((terminal) => doctor(flags, terminal)));
}

async function doctor({ json, launcher = 'auto' }: DoctorFlags, terminal: Terminal): Promise<ExitCode> {
  const rings = await examineRings(launcher);
  const complete = rings.every((ring) => ring.complete);
  const { version: node, platform, arch } = process;
  if (json === true) {
    const limits = Object.fromEntries(LIMITS.map((limit) => [limit.key, limit.default]));
    terminal.out.line(JSON.stringify({ version: version(), node, platform, arch, complete, rings, limits }, null, 2));
  } else {
    terminal.out.line(`neuroscript ${version()}, Node ${node.slice(1)}, ${platform} ${arch}`);
    for (const ring of rings) show(ring, terminal);
  }
  return complete ? EXIT.ok : EXIT.runtime;
}

function show({ ring, name, complete, active, missing }: Ring, { out, paintOut }: Terminal): void {
  const verdict = complete ? paintOut.bold('complete') : paintOut.yellow('not complete');
  out.line(`\nring ${ring}, the ${name}: ${verdict}`);
  for (const text of active) out.line(`  ok       ${text}`);
  for (const text of missing) out.line(`  ${paintOut.yellow('missing')}  ${text}`);
}
