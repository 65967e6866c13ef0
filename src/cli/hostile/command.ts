import { clip, counted, printable } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import type { LimitOptions } from '../../sandbox/index.ts';
import { named as inFile } from '../flags/setup.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { readText } from '../terminal/input.ts';
import { Steps } from '../terminal/status.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type HostileOutcome, judgeScenario, type ProgramVerdict } from './play.ts';
import { readScenario, readWays, scenarioFiles, WAYS } from './read.ts';

/** Bytes of the largest file of a scenario. */
const BYTES = 1024 * 1024;

/** `test --hostile [FILE…]`: plays the scenarios of files, by default those of the package. */
export async function testHostile(
  named: readonly string[],
  { json = false, limits }: { readonly json?: boolean | undefined; readonly limits: LimitOptions },
  terminal: Terminal,
): Promise<ExitCode> {
  const read = (name: string): Promise<string> => readText(name, BYTES, () => terminal.stdin);
  const ways = readWays(await read(WAYS));
  const files = named.length > 0 ? named : scenarioFiles();
  const scenarios = await Promise.all(files.map(async (file) => ({ file, text: await read(file) })));
  using steps = new Steps(terminal, 'test --hostile');
  const verdicts: ProgramVerdict[] = [];
  for (const [index, { file, text }] of scenarios.entries()) {
    steps.reached(index, scenarios.length);
    if (terminal.interrupt.aborted) return EXIT.cancelled;
    const scenario = inFile(file, () => readScenario(text, file, ways));
    const found = await judgeScenario(scenario, (options) => createRuntime({ ...options, limits }));
    verdicts.push(...found);
    steps.clear();
    if (json) continue;
    terminal.out.line(`${printable(scenario.name).padEnd(16)} ${wordsOf(sumOf(found))}`);
    for (const line of failures(found, terminal)) terminal.out.line(line);
  }
  const sum = sumOf(verdicts);
  if (json) terminal.out.json({ ...sum, scenarios: [...Map.groupBy(verdicts, ({ scenario }) => scenario)].map(scenarioJson) });
  else terminal.out.line(`${counted(scenarios.length, 'scenario')}: ${wordsOf(sum)}`);
  return sum.attacks.through + sum.attacks.idle === 0 ? EXIT.ok : EXIT.runtime;
}

/** How many programs came to which end. */
export interface Sum {
  readonly attacks: Readonly<Record<'made' | 'through' | 'refused' | 'waiting' | 'idle', number>>;
  readonly benign: Readonly<Record<'made' | 'done' | 'allowed' | 'failed', number>>;
}

export function sumOf(verdicts: readonly ProgramVerdict[]): Sum {
  const count = (...outcomes: readonly HostileOutcome[]): number =>
    verdicts.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const [through, refused, waiting, idle] = [count('through'), count('refused'), count('waits'), count('idle')];
  const [done, allowed, failed] = [count('done'), count('allowed'), count('failed')];
  return {
    attacks: { made: through + refused + waiting + idle, through, refused, waiting, idle },
    benign: { made: done + allowed + failed, done, allowed, failed },
  };
}

function wordsOf({ attacks, benign }: Sum): string {
  const share = (part: number): string => (benign.made === 0 ? '' : ` (${Math.floor((100 * part) / benign.made)} %)`);
  const stopped = `${attacks.refused} refused, ${attacks.waiting} for a person to judge`;
  const tasks = `${counted(benign.made, 'task')}: ${benign.done} done alone${share(benign.done)}`;
  return `${counted(attacks.made, 'attack')}: ${attacks.through} through, ${stopped}; ${tasks}, ${benign.done + benign.allowed} with a person${share(benign.done + benign.allowed)}`;
}

function failures(verdicts: readonly ProgramVerdict[], { paintOut }: Terminal): readonly string[] {
  const words = { through: 'THROUGH', idle: 'DOES NO HARM WITHOUT RULES', failed: 'NOT DONE' } as const;
  return verdicts.flatMap(({ program, outcome, why }) =>
    outcome === 'through' || outcome === 'idle' || outcome === 'failed'
      ? [paintOut.red(printable(clip(`  ${words[outcome]}  ${program}: ${why ?? 'it ended'}`, 300)))]
      : [],
  );
}

function scenarioJson([scenario, verdicts]: readonly [string, readonly ProgramVerdict[]]) {
  return { scenario, ...sumOf(verdicts), programs: verdicts.map(({ program, outcome, why }) => ({ program, outcome, why })) };
}
