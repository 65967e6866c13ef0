import { helpPage } from './manual/manual.ts';
import { readManual } from './manual/read.ts';
import { EXIT } from './terminal/exit.ts';

/**
 * The command line. Sets `process.exitCode` and never rejects. It prints help from the manual that the build wrote; everything else
 * needs a runtime, which takes several times as long to load.
 */
export async function main(argv: string[]): Promise<void> {
  const { isTTY, columns } = process.stdout;
  const page = helpPage(argv, readManual(), isTTY ? columns : undefined);
  if (page !== null) print(page);
  else {
    const { runInProcess } = await import('./process.ts');
    await runInProcess(argv);
  }
}

/** Writes to standard output. A reader that closes its end is not a failure; a full disk is one. */
function print(text: string): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.stderr.write(`neuroscript: the output cannot be written: ${error.message}\n`);
    process.exitCode = EXIT.usage;
  });
  process.stdout.write(text);
}
