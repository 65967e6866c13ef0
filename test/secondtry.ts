import { matchesGlob, relative } from 'node:path';
import { expect, vi } from 'vitest';
import { CLOCKED, PROCESSES, SECOND_TRY } from './groups.ts';

// Runs before each file of the group that shares processes: those that start processes or bound a time have a second try.
const path = relative(process.cwd(), expect.getState().testPath ?? '');
const options: object = SECOND_TRY;
if ([...PROCESSES, ...CLOCKED].some((glob) => matchesGlob(path, glob))) vi.setConfig(options);
