import { type Habit, habitsOf } from '../../conformance/habits/corpus.ts';
import { type Agent, LoopController, MemoryStore, programReply } from '../../src/loop/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { pureTools } from '../../stdlib-tools/index.ts';
import { toldIn } from '../simulate/told.ts';

const DONE = '  emit tool.aeiou.magic("LOOP", {"action": "done"})';

/** The program with the slip, as a turn that ends its session. */
function asTurn(slip: string): string {
  const end = slip.lastIndexOf('endcommand');
  return end < 0 ? `${slip}command\n  call main()\n${DONE}\nendcommand` : `${slip.slice(0, end)}${DONE}\n${slip.slice(end)}`;
}

/** Makes the slip, and then replaces each line that has a problem by its fix, and does nothing else. */
function scripted({ slip }: Habit): Agent {
  return {
    name: 'habit',
    reply: async ({ prompt }) => {
      const told = toldIn(prompt);
      if (told === null || told.program === null) return programReply(asTurn(slip));
      const lines = told.program.split('\n');
      const fixes = new Map(told.problems.flatMap(({ line, fix }) => (fix === null ? [] : [[line, fix] as const])));
      return programReply(lines.map((text, index) => fixes.get(index + 1) ?? text).join('\n'));
    },
  };
}

/** Whether the session of an agent with this slip ends DONE. */
async function endsWell(runtime: Runtime, habit: Habit): Promise<boolean> {
  const loop = new LoopController({ runtime, store: new MemoryStore() });
  try {
    const result = await loop.runLoop({ userdata: { subject: 'habit', fields: {} }, agent: scripted(habit) });
    return result.decision === 'DONE';
  } catch {
    return false;
  }
}

/** Of the slips of the files: how many there are, and the sessions that end DONE. */
export async function loopShare(files: readonly string[]): Promise<{ readonly slips: number; readonly done: number }> {
  await using runtime = await createRuntime({ tools: pureTools(), policy: { allow: ['*'] } });
  let done = 0;
  const habits = files.flatMap((file) => habitsOf(file));
  for (const habit of habits) if (await endsWell(runtime, habit)) done += 1;
  return { slips: habits.length, done };
}
