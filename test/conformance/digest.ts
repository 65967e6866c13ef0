/**
 * Prints a digest of everything the suite and many random programs do: texts, values, errors with their places, fuel,
 * memory. Run on different lines of Node it must print the same (`test/machine/same.test.ts`).
 */
import { createHash } from 'node:crypto';
import { program } from '../fuzz/programs.ts';
import { Random } from '../fuzz/random.ts';
import { drive } from '../guest/driver.ts';
import { TEST_TOOLS } from '../guest/tools.ts';
import type { Outcome } from './both.ts';
import { runHere, Sandboxes, sections } from './suite.ts';

/** Random programs beside the suite. */
const PROGRAMS = 300;

const lines: string[] = [];
const note = (name: string, what: unknown): void => {
  lines.push(`${name} ${createHash('sha256').update(JSON.stringify(what)).digest('hex')}`);
};

await using sandboxes = await Sandboxes.open();
for (const section of sections())
  for (const chunk of section.chunks) {
    const here: Outcome | null = runHere(section, chunk);
    note(`${section.name}: ${chunk.title}`, [here, await sandboxes.run(section, chunk)]);
  }
for (let seed = 0; seed < PROGRAMS; seed++) {
  const source = program(new Random(seed));
  const { emits, values, whispers, error, eventErrors, fuel, peakMemoryBytes } = drive(source, {
    call: /^func f0\((?:\)|optional)/.test(source) ? 'f0' : null,
    events: [{ name: 'x', source: 's', payload: [1] }],
    globals: { g: [1, { k: 2 }] },
    limits: { fuel: 50_000, memoryBytes: 4_000_000, callDepth: 100, evalDepth: 1_000 },
    tools: TEST_TOOLS,
  });
  note(`random ${seed}`, { emits, values, whispers, error, eventErrors, fuel, peakMemoryBytes });
}
process.stdout.write(`${lines.join('\n')}\n`);
