import { relative } from 'node:path';
import { expect } from 'vitest';
import { workersOf } from './groups.ts';
import { workersAre } from './workers.ts';

// Runs before each file of the groups that share processes.
workersAre(workersOf(relative(process.cwd(), expect.getState().testPath ?? '')));
