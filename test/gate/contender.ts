// One of two executors that compete for the same intents: `contender.ts NAME GO QUEUE…`. It waits for the file GO and then
// tries the intent of every queue. Its work appends NAME to the file `ran` of the queue.
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { executeOnce } from '../../src/gate/index.ts';

const [name = '', go = '', ...queues] = process.argv.slice(2);
const request = { intentId: 'b2831d73-2708-4f50-944b-7b54f11bfbb4', hash: 'a'.repeat(64), source: 'human' } as const;

process.stdout.write('ready\n');
while (!existsSync(go));
for (const queue of queues) {
  const options = { queue, verifier: { command: 'true', args: [] }, show: () => {} };
  const { state } = await executeOnce(request, options, async () => appendFileSync(join(queue, 'ran'), name));
  process.stdout.write(`${state}\n`);
}
