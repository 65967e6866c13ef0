import { Argument, type Command } from 'commander';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { Steps } from '../terminal/status.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

/** The benchmarks, as in `bench/main.ts`. */
const BENCHES = 'quotas peers turns interp prices contexts tokens loop sessions suspend cluster soak'.split(' ');

/** `bench NAME`: loads the harness on use, because its peers are development dependencies. */
export function addBench(program: Command, execute: Execute): void {
  program
    .command('bench')
    .summary('measure limits and speed')
    .description(
      'Measures how exactly limits hold (quotas), speed beside other sandboxes (peers, turns, interp), what a unit of fuel takes (prices), what forks and tool calls ' +
        '(contexts), tokens (tokens) and the host loop (loop) cost; sessions runs a thousand at once; suspend puts turns aside and goes on with them; cluster claims and commits beside many stored sessions; soak mixes honest and hostile turns for a time.',
    )
    .addArgument(new Argument('<NAME>', 'what to measure').choices(BENCHES))
    .option('--json', 'print the numbers as JSON')
    .option('--quick', 'few samples, to see that it works')
    .option('--html <FILE>', 'quotas: write a page with plots, too')
    .option('--peers', 'quotas: break limits in ours and in other sandboxes')
    .option('--program <FILE>', 'quotas --peers: run this program, too (.ns, .js or .py); may be repeated', repeated)
    .option('--compare <FILE>', 'peers, quotas --peers: say what changed since an older report (--json)')
    .option('--seconds <N>', 'soak: how long honest and hostile turns go on (60)')
    .option('--against <DIR>', 'interp, turns, contexts: compare with the build of another checkout')
    .option('--rounds <N>', 'with --against: how often both are measured (30)')
    .action((name: string, flags: Readonly<Record<string, string | readonly string[] | true>>) =>
      execute((terminal) =>
        bench(
          [name, ...Object.entries(flags).flatMap(([flag, value]) => [value].flat().map((each) => argument(flag, each)))],
          terminal,
        ),
      ),
    );
}

const repeated = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const argument = (flag: string, value: string | true): string => (value === true ? `--${flag}` : `--${flag}=${value}`);

async function bench(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { benchMain } = await import('../../../bench/main.ts');
  using steps = new Steps(terminal, `bench ${args[0]}`);
  const code = await benchMain(args, (done, whole) => {
    if (done < whole) steps.reached(done, whole);
    else steps[Symbol.dispose]();
  });
  if (code === 0) return EXIT.ok;
  return code === EXIT.usage ? EXIT.usage : EXIT.runtime;
}
