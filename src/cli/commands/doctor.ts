import type { Command } from 'commander';
import type { McpServerConfig } from '../../mcp/index.ts';
import { type Palette, paragraph, printable, quantity } from '../../report/index.ts';
import { VERSION } from '../../runtime/version.ts';
import { examineRings, type LauncherChoice, type Ring } from '../../sandbox/index.ts';
import { NeuroScriptError } from '../../wire/errors.ts';
import { breachOf, LIMITS, type LimitRow, POOL_LIMITS } from '../../wire/limits.ts';
import { launcherOption } from '../flags/options.ts';
import { addServers, readServers, tokensOfUser } from '../flags/servers.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { Steps } from '../terminal/status.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

interface DoctorFlags {
  readonly json?: true;
  readonly launcher?: LauncherChoice;
  readonly mcp?: readonly string[];
}

const DETAILS = `
Starts a sandbox on this machine and exceeds limits in it. Exits with 0 when
every ring is complete, with 1 when something is missing, and with 2 when the
sandbox cannot start. With --mcp, connects to the servers too; one that cannot
be used is missing. SECURITY.md says what each ring promises; 'bench quotas'
measures how exactly the limits hold. docs/schemas/doctor.schema.json has
the form of the JSON.
`;

/** `doctor`: shows which rings of the sandbox are complete on this machine, and how to complete the others. */
export function addDoctor(program: Command, execute: Execute): void {
  const command = program
    .command('doctor')
    .summary('check the sandbox on this machine')
    .description('Tells which rings of the sandbox are complete on this machine, and how to complete the others.')
    .addOption(launcherOption());
  addServers(command).option('--json', 'print one JSON object').addHelpText('after', DETAILS).action(execute(doctor));
}

async function doctor({ json, launcher = 'auto', mcp = [] }: DoctorFlags, terminal: Terminal): Promise<ExitCode> {
  const config = await readServers(mcp);
  using steps = new Steps(terminal, 'doctor');
  const rings = await examineRings(launcher);
  steps.reached(1, 1 + Object.keys(config).length);
  const complete = rings.every((ring) => ring.complete);
  const servers = await Promise.all(Object.entries(config).map(([name, server]) => examined(name, server)));
  steps.clear();
  const { version: node, platform, arch } = process;
  if (json === true) {
    terminal.out.json({
      version: VERSION,
      node,
      platform,
      arch,
      complete,
      rings,
      limits: limits(),
      ...(mcp.length > 0 && { mcp: servers }),
    });
  } else {
    terminal.out.line(`neuroscript ${VERSION}, Node ${node.slice(1)}, ${platform} ${arch}`);
    for (const ring of rings) show(ring, terminal);
    for (const server of servers) tell(server, terminal);
    terminal.out.line('\nlimits: default, and the most that can be set');
    for (const row of [...LIMITS, ...POOL_LIMITS]) for (const line of described(row, terminal.paintOut)) terminal.out.line(line);
  }
  return complete && servers.every(({ error }) => error === null) ? EXIT.ok : EXIT.runtime;
}

/** A server after an attempt to connect. */
interface Examined {
  readonly server: string;
  readonly tools: number | null;
  readonly error: string | null;
}

async function examined(server: string, config: McpServerConfig): Promise<Examined> {
  const { McpSource } = await import('../../mcp/index.ts');
  try {
    await using source = await McpSource.connect(
      { [server]: { ...config, optional: false } },
      { authorize: await tokensOfUser() },
    );
    return { server, tools: source.tools.length, error: null };
  } catch (error) {
    if (!(error instanceof NeuroScriptError)) throw error;
    return { server, tools: null, error: printable(error.message) };
  }
}

function tell({ server, tools, error }: Examined, { out, paintOut }: Terminal): void {
  const verdict = error === null ? paintOut.bold(`${tools} tools`) : paintOut.yellow('cannot be used');
  out.line(`\nMCP server ${server}: ${verdict}`);
  for (const line of error === null ? [] : paragraph(error, paintOut, '  ')) out.line(line);
}

function limits(): readonly object[] {
  return [...LIMITS, ...POOL_LIMITS].map((row) => {
    const { key, flag, unit, default: usual, min, max, ring, breach } = row;
    const limit = { limit: key, flag: `--${flag}`, unit, default: usual, min, max, ring };
    return { ...limit, breach: breachOf(row), catchable: breach === 'NS37' };
  });
}

function described({ flag, unit, max, help, default: usual }: LimitRow, palette: Palette): readonly string[] {
  const amounts = `${usual === null ? 'cores' : quantity(unit, usual)}, at most ${quantity(unit, max)}`;
  const rest = ' '.repeat(20);
  return [...paragraph(amounts, palette, `  ${`--${flag}`.padEnd(17)} `, rest), ...paragraph(help, palette, rest)];
}

function show({ ring, name, complete, active, missing }: Ring, { out, paintOut }: Terminal): void {
  const verdict = complete ? paintOut.bold('complete') : paintOut.yellow('not complete');
  out.line(`\nring ${ring}, the ${name}: ${verdict}`);
  const item = (label: string, text: string, paint = (plain: string) => plain): void => {
    const [first = '', ...rest] = paragraph(text, paintOut, ' '.repeat(11));
    out.line(`  ${paint(label.padEnd(9))}${first.slice(11)}`);
    for (const line of rest) out.line(line);
  };
  for (const text of active) item('ok', text);
  for (const { what, todo } of missing) {
    item('missing', what, paintOut.yellow);
    item('to do', todo);
  }
}
