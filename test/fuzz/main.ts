/** `npm run fuzz [-- --seconds 600 --seed 1]`: fuzzes for the given time and writes each input that breaks something to `fuzz-<seed>-<n>.ns`. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { tryInput } from './check.ts';
import { KINDS, makeInput, seeds } from './inputs.ts';
import { Random } from './random.ts';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '600' }, seed: { type: 'string', default: '1' } },
});
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
if (!(seconds > 0) || !Number.isInteger(seed)) {
  process.stderr.write('usage: npm run fuzz [-- --seconds N --seed N]\n');
  process.exit(2);
}

const from = seeds();
const counts = new Map<string, number>();
const end = performance.now() + seconds * 1000;
let broken = 0;
let made = 0;
for (; performance.now() < end && broken < 20; made++) {
  const random = new Random(seed * 1_000_003 + made);
  const kind = random.pick(KINDS);
  const input = makeInput(random, kind, from);
  try {
    const reached = `${kind}: ${tryInput(input)}`;
    counts.set(reached, (counts.get(reached) ?? 0) + 1);
  } catch (error) {
    const name = `fuzz-${seed}-${made}.ns`;
    writeFileSync(name, input);
    process.stderr.write(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    broken++;
  }
}
for (const [reached, count] of [...counts].sort()) process.stdout.write(`${reached} ${count}\n`);
process.stdout.write(`${made} inputs from seed ${seed}, ${broken} broken\n`);
process.exitCode = broken === 0 ? 0 : 1;
