import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { expect, vi } from 'vitest';
import { hasMoreTries, MORE_TRIES, workersOf } from './groups.ts';
import { workersAre } from './workers.ts';

// Runs before each file of the group that shares processes.
const file = expect.getState().testPath ?? '';
const path = relative(process.cwd(), file);
const options: object = MORE_TRIES;
if (hasMoreTries(path, readFileSync(file, 'utf8'))) vi.setConfig(options);
workersAre(workersOf(path));
