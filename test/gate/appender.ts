// Executors that record until they are killed, in many threads with a queue each. After every record one of them prints
// `QUEUE NUMBER`.
import { writeSync } from 'node:fs';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { QueueLock, recordExecuted } from '../../src/gate/index.ts';
import { numbered } from './numbered.ts';

const HASH = 'a'.repeat(64);

if (isMainThread) {
  const [first = '0', ...queues] = process.argv.slice(2);
  for (const [index, queue] of queues.entries())
    new Worker(new URL(import.meta.url), { workerData: { index, queue, first: Number(first) } });
} else {
  const { index, queue, first }: { index: number; queue: string; first: number } = workerData;
  const lock = new QueueLock(queue, Date.now());
  for (let number = first; ; number += 1) {
    recordExecuted(lock, { intentId: numbered(number), hash: HASH }, Date.now());
    writeSync(1, `${index} ${number}\n`);
  }
}
