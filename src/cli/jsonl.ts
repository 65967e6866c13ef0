import { availableParallelism } from 'node:os';
import type { Runtime } from '../runtime/index.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { type Line, splitLines } from './lines.ts';
import { inOrder } from './order.ts';
import type { Terminal } from './terminal.ts';
import { quantity } from './units.ts';

/** Longest request line. Longer ones are answered with an error and never held. */
const LINE_BYTES = 16 * 1024 * 1024;
