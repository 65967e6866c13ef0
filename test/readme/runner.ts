import { writeSync } from 'node:fs';

// Executes modules one after the other in this process, which loads the package once for all of them. A module has ended when nothing
// is left that would keep a process of its own alive, so one that leaves a handle or a worker behind never ends.

/** What this process is told: a module to execute, and the text that ends what it prints. */
interface Task {
  readonly url: string;
  readonly end: string;
}

const { channel } = process;
let task: Task | null = null;
let isLoaded = false;

process.on('message', (next: Task) => {
  // From here on nothing but the module keeps this process alive.
  channel?.unref();
  task = next;
  isLoaded = false;
  // A module that throws ends this process, as it would end one of its own.
  import(next.url).then(() => {
    isLoaded = true;
  });
});

process.on('beforeExit', () => {
  channel?.ref();
  if (task === null) return;
  // 13 is the answer of Node for a module that waits for something that never comes.
  const status = process.exitCode ?? (isLoaded ? 0 : 13);
  process.exitCode = undefined;
  for (const stream of [1, 2]) writeSync(stream, `${task.end} ${status}\n`);
  task = null;
});
