import { type Habit, habitsOf } from '../../conformance/habits/corpus.ts';
import { type Agent, LoopController, MemoryStore, programReply } from '../../src/loop/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { pureTools } from '../../stdlib-tools/index.ts';
import { toldIn } from '../simulate/told.ts';

const DONE = '  emit tool.aeiou.magic("LOOP", {"action": "done"})';

/** The program with the slip, as a turn that ends its session: a last statement does so, or a block that runs the procedure `main`. */
export function asTurn(slip: string): string {
  const end = slip.lastIndexOf('endcommand');
  if (end >= 0) return `${slip.slice(0, end)}${DONE}\n${slip.slice(end)}`;
  if (/\bmain\b/.test(slip)) return `${slip}command\n  call main()\n${DONE}\nendcommand`;
  const brace = /^command\b/.test(slip) ? slip.lastIndexOf('}') : -1;
  return brace < 0 ? `${slip}${DONE.trim()}\n` : `${slip.slice(0, brace)}${DONE}\n${slip.slice(brace)}`;
}

/** Makes the slip, and then writes the lines that each problem's fix names, and does nothing else. */
function scripted({ slip }: Habit): Agent {
  return {
    name: 'habit',
    reply: async ({ prompt }) => {
      const told = toldIn(prompt);
      return programReply(told?.fixed ?? asTurn(slip));
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
