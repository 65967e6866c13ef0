import { PassThrough, type Readable } from 'node:stream';
import { runProgram } from '../../src/cli/program.ts';
import { Output } from '../../src/cli/terminal/output.ts';
import type { Terminal } from '../../src/cli/terminal/terminal.ts';
import { plainPalette } from '../../src/report/index.ts';
import type { Outcome } from './spawn.ts';

/** Runs the command line within this process, for tests that do not look at the process. Paths must be absolute. */
export async function within(argv: readonly string[], stdin: Readable = new PassThrough().end()): Promise<Outcome> {
  const streams = [new PassThrough(), new PassThrough()] as const;
  const [out, err] = streams;
  const terminal: Terminal = {
    ...{ stdin, screen: null, out: new Output(out), err: new Output(err) },
    ...{ paintOut: plainPalette, paintErr: plainPalette, outIsTTY: false, errIsTTY: false },
    interrupt: new AbortController().signal,
  };
  const texts = streams.map((stream) => stream.toArray());
  const code = await runProgram(argv, terminal);
  for (const stream of streams) stream.end();
  const [stdout = '', stderr = ''] = (await Promise.all(texts)).map((chunks) => chunks.join(''));
  return { code, stdout, stderr };
}
