import { Argument, type Command } from 'commander';
import { texts } from '../flags/options.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { Steps } from '../terminal/status.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

/** The benchmarks that say something to a user; `npm run bench` of a checkout has all of them, and compares builds. */
const BENCHES = ['quotas', 'peers', 'turns', 'interp', 'capacity'];

/** `bench NAME`: loads the harness on use, because its peers are development dependencies. */
export function addBench(program: Command, execute: Execute): void {
  program
    .command('bench')
    .summary('measure limits and speed')
    .description(
      'Measures how exactly limits hold (quotas), the speed beside other sandboxes (peers, turns, interp), and how many turns a machine takes (capacity).',
    )
    .addArgument(new Argument('<NAME>', 'what to measure').choices(BENCHES))
    .option('--json', 'print the numbers as JSON')
    .option('--quick', 'few samples, to see that it works')
    .option('--html <FILE>', 'quotas: also write a page with plots')
    .option('--peers', 'quotas: break limits in ours and in other sandboxes')
    .option('--program <FILE>', 'quotas --peers: also run this program: .ns, .js or .py (repeatable)', texts)
    .option('--compare <FILE>', 'peers, quotas: say what changed since an older report (--json)')
    .action(execute(bench));
}

const argument = (flag: string, value: string | true): string => (value === true ? `--${flag}` : `--${flag}=${value}`);

async function bench(
  name: string,
  flags: Readonly<Record<string, string | readonly string[] | true>>,
  terminal: Terminal,
): Promise<ExitCode> {
  const { benchMain } = await import('../../../bench/main.ts');
  using steps = new Steps(terminal, `bench ${name}`);
  const args = Object.entries(flags).flatMap(([flag, value]) => [value].flat().map((each) => argument(flag, each)));
  const code = await benchMain([name, ...args], (done, whole) => {
    if (done < whole) steps.reached(done, whole);
    else steps[Symbol.dispose]();
  });
  if (code === 0) return EXIT.ok;
  return code === EXIT.usage ? EXIT.usage : EXIT.runtime;
}
