import { type Command, Option } from 'commander';
import type { ConformanceFlags } from '../conformance/command.ts';
import { timeFlag } from '../flags/options.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

const SUITES = ['aeiou', 'language'] as const satisfies readonly ConformanceFlags['suite'][];

const HELP = `
The shell starts the command. The command reads one JSON request per line from
its standard input and writes one JSON answer per line to its standard output.
conformance/*/README.md describes requests, answers and vector files. For
an operation that the implementation lacks, it may answer
{"id":…,"unsupported":true}; the report counts such answers apart from
failures.
Exits with 0 when every answer is as expected, with 1 when one is not, and with
2 when the command does not speak the protocol.

Examples:
  neuroscript test conformance --impl 'python3 my_aeiou.py'
  neuroscript test conformance --impl 'neuroscript test conformance --serve'
  neuroscript test conformance --suite language --impl ./my_neuroscript
`;

/** `test conformance --impl CMD`: runs the AEIOU v3 vectors against an implementation; `--serve` answers them with this one. */
export function addConformance(test: Command, execute: Execute): void {
  test
    .command('conformance')
    .summary('test an implementation of AEIOU v3 or of the language')
    .description(
      'Runs golden envelopes, tokens and decisions of AEIOU v3, or programs of the language, against any implementation.',
    )
    .option('--impl <CMD>', 'command line of the implementation')
    .option('--serve', 'act as the implementation: answer requests on standard input')
    .addOption(new Option('--suite <NAME>', 'which vectors').choices(SUITES).default('aeiou'))
    .option('--only <TEXT>', 'run only vectors whose file or id contains this text')
    .addOption(new Option('--timeout <TIME>', 'time limit of one answer').argParser(timeFlag('timeout')).default(10_000, '10s'))
    .option('--json', 'print the report as a JSON object')
    .addHelpText('after', HELP)
    .action(
      execute(async (flags: ConformanceFlags, terminal: Terminal) =>
        (await import('../conformance/command.ts')).testConformance(flags, terminal),
      ),
    );
}
