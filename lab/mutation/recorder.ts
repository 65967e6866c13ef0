import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach } from 'vitest';

/**
 * Vitest loads this file before each test file while no mutant is active. Writes into `.cases` which mutants a test case
 * reaches, in its own process or in those that it starts. What runs before the first case concerns all cases of the file,
 * what runs between two cases concerns both.
 */
declare global {
  var __mutation: { readonly seen: Set<number> } | undefined;
}

let file = '';
let last = '';

function reached(): string {
  const ids = readFileSync('.reached', 'utf8');
  writeFileSync('.reached', '');
  globalThis.__mutation?.seen.clear();
  return ids.trim();
}

function note(task: string, ids: string): void {
  if (ids !== '') appendFileSync('.cases', `${task} ${ids}\n`);
}

beforeEach(({ task }) => {
  const before = reached();
  if (file === '') note(task.file.id, before);
  else for (const id of [last, task.id]) note(id, before);
  file = task.file.id;
  last = task.id;
});
afterEach(() => note(last, reached()));
afterAll(() => note(last, reached()));
