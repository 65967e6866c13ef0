import { PassThrough, Readable } from 'node:stream';
import { vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { answerOf } from '../../src/cli/terminal/exit.ts';
import { Output } from '../../src/cli/terminal/output.ts';
import type { Terminal } from '../../src/cli/terminal/terminal.ts';
import { plainPalette } from '../../src/report/index.ts';
import { type Outcome, type SpawnOptions, STATE } from './spawn.ts';

/** Where commands run unless told otherwise. A test that runs out of time may leave the process elsewhere, and the next one begins here. */
const HOME = process.cwd();

/**
 * Runs the command line within this process, as `neuroscript` runs it in one of its own: for tests of what commands do and not
 * of how a process ends. A process takes some hundred milliseconds to start. A tools file that is a module needs a process:
 * here Vite would load it, once for all tests. With `columns`, standard output and standard error are a terminal of that width.
 */
export async function within(
  argv: readonly string[],
  { stdin = '', cwd, env, columns }: Pick<SpawnOptions, 'stdin' | 'cwd' | 'env'> & { readonly columns?: number } = {},
): Promise<Outcome> {
  const screen = { isTTY: columns !== undefined, columns };
  const streams = [Object.assign(new PassThrough(), screen), Object.assign(new PassThrough(), screen)] as const;
  const [out, err] = streams;
  const palette = { ...plainPalette, columns: columns ?? plainPalette.columns };
  const terminal: Terminal = {
    ...{ stdin: Readable.from([Buffer.from(stdin)]), screen: null, out: new Output(out), err: new Output(err) },
    ...{ paintOut: palette, paintErr: palette },
    ...{ outIsTTY: columns !== undefined, statusColumns: 0 },
    interrupt: new AbortController().signal,
    onSignal: () => {},
    beforeFailure: () => {},
  };
  const texts = streams.map((stream) => stream.toArray());
  for (const [name, value] of Object.entries({ XDG_STATE_HOME: STATE, ...env })) vi.stubEnv(name, value);
  process.chdir(cwd ?? HOME);
  let code: number;
  try {
    code = answerOf(argv, await runProgram(argv, terminal));
  } finally {
    process.chdir(HOME);
    vi.unstubAllEnvs();
  }
  for (const stream of streams) stream.end();
  const [stdout = '', stderr = ''] = (await Promise.all(texts)).map((chunks) => chunks.map(String).join(''));
  return { code, stdout, stderr };
}
