import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeEach } from 'vitest';

/**
 * Vitest loads this file before each test file while no mutant is active. Writes into `.cases` which mutants a test case
 * reaches, in its own process or in those that it starts. What runs outside of any case belongs to the file.
 */
declare global {
  var __mutation: { active: string | undefined; readonly seen: Set<number> } | undefined;
}

function note(task: string): void {
  const ids = readFileSync('.reached', 'utf8').trim();
  writeFileSync('.reached', '');
  globalThis.__mutation?.seen.clear();
  if (ids !== '') appendFileSync('.cases', `${task} ${ids}\n`);
}

let file = '';
beforeEach(({ task, onTestFinished }) => {
  file = task.file.id;
  note(file);
  // The hooks of a case run in reverse, so this is the last one.
  onTestFinished(() => note(task.id));
});
afterAll(() => note(file));
