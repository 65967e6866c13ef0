import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { expect, vi } from 'vitest';
import { hasMoreTries, MORE_TRIES } from './groups.ts';

// Runs before each file of the group that shares processes.
const file = expect.getState().testPath ?? '';
const options: object = MORE_TRIES;
if (hasMoreTries(relative(process.cwd(), file), readFileSync(file, 'utf8'))) vi.setConfig(options);
