/** `npm run conformance`: every program of the suite through the real sandbox and in this process, counted by section. */
import { isDeepStrictEqual } from 'node:util';
import { table } from '../../bench/table.ts';
import { type Outcome, observed } from './both.ts';
import type { Chunk } from './chunks.ts';
import { essence, runHere, Sandboxes, type Section, sections } from './suite.ts';

/** What was counted of a section. */
interface Count {
  readonly name: string;
  readonly programs: number;
  /** Programs that can run in this process: all but those that need the real host. */
  here: number;
  passedHere: number;
  passedThere: number;
  /** Programs of `here` that ended in both with the same output, error, place and fuel. */
  agreed: number;
}

const failures: string[] = [];

async function count(sandboxes: Sandboxes, section: Section): Promise<Count> {
  const counts: Count = {
    name: section.name,
    programs: section.chunks.length,
    here: 0,
    passedHere: 0,
    passedThere: 0,
    agreed: 0,
  };
  for (const chunk of section.chunks) {
    const there = await sandboxes.run(section, chunk);
    if (passes(there, chunk, `${section.name}, sandbox`)) counts.passedThere++;
    const here = runHere(section, chunk);
    if (here === null) continue;
    counts.here++;
    if (passes(here, chunk, `${section.name}, in process`)) counts.passedHere++;
    if (isDeepStrictEqual(essence(here), essence(there))) counts.agreed++;
    else failures.push(`${section.name}: ${chunk.title}: sandbox and process differ`);
  }
  return counts;
}

function passes(outcome: Outcome, chunk: Chunk, where: string): boolean {
  const passed = isDeepStrictEqual(observed(outcome, chunk.expected), chunk.expected);
  if (!passed) failures.push(`${where}: ${chunk.title}`);
  return passed;
}

await using sandboxes = await Sandboxes.open();
const counts: Count[] = [];
for (const section of sections()) counts.push(await count(sandboxes, section));
const sum = (of: (counted: Count) => number): number => counts.reduce((total, counted) => total + of(counted), 0);
const total: Count = {
  name: 'all',
  programs: sum(({ programs }) => programs),
  here: sum(({ here }) => here),
  passedHere: sum(({ passedHere }) => passedHere),
  passedThere: sum(({ passedThere }) => passedThere),
  agreed: sum(({ agreed }) => agreed),
};
const cells = [...counts, total].map(({ name, programs, here, passedHere, passedThere, agreed }) => [
  name,
  String(programs),
  `${passedThere}/${programs}`,
  `${passedHere}/${here}`,
  `${agreed}/${here}`,
]);
process.stdout.write(`${table(['section', 'programs', 'sandbox', 'in process', 'agree'], cells)}\n`);
for (const failure of failures) process.stderr.write(`${failure}\n`);
process.exitCode = failures.length === 0 ? 0 : 1;
