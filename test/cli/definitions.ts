import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import { Output } from '../../src/cli/terminal/output.ts';
import { plainPalette } from '../../src/report/index.ts';

export function definitions(): Promise<Command> {
  const nowhere = new Output(new PassThrough());
  return createProgram([], { out: nowhere, err: nowhere, paintOut: plainPalette, paintErr: plainPalette }, () => async () => {});
}
