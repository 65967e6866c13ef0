import type { Agent } from '../../../src/loop/agents/agent.ts';
import { LoopController } from '../../../src/loop/controller.ts';
import { seededIds } from '../../../src/loop/ids.ts';
import type { TurnRecord } from '../../../src/loop/record/record.ts';
import { MemoryStore } from '../../../src/loop/sessions/sqlite.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { newKeyring } from '../../aeiou/kit.ts';
import { reply, TestClock } from '../fake.ts';

/** Stands in USERDATA, in the rejected program, in the failed one and in its calls; not in the program that decides. */
export const SECRET = 'Ada-Lovelace';

/** A program that does not parse, one that fails after a call with an effect, and one that decides the turn. */
export const PROGRAMS = [
  `command\n  let x = "${SECRET}"\nendcommand`,
  [
    'command',
    `  emit tool.mail.Send("${SECRET}")`,
    '  emit tool.mail.Send("shared")',
    `  whisper "self", "${SECRET}"`,
    `  fail "no ${SECRET}"`,
    '  emit tool.aeiou.magic("LOOP", {"action": "done"})',
    'endcommand',
  ].join('\n'),
  'command\n  emit tool.mail.Send("shared")\n  emit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand',
] as const;

/** A runtime with the tool of {@link PROGRAMS}. */
export function mailRuntime(): Promise<Runtime> {
  const mail = defineTool({
    name: 'tool.mail.Send',
    args: [{ name: 'to', type: 'string' }],
    run: ({ to }) => `sent to ${to}`,
  });
  return createRuntime({ tools: [mail], policy: { allow: ['*'] } });
}

/** A session of one turn: its first two attempts do not decide it. */
export async function repairedSession(
  runtime: Runtime,
  programs: readonly string[] = PROGRAMS,
): Promise<{ readonly store: MemoryStore; readonly record: TurnRecord }> {
  const [clock, store] = [new TestClock(), new MemoryStore()];
  const loop = new LoopController({ runtime, keyring: newKeyring('k', clock), clock, ids: seededIds('repaired'), store });
  const replies = programs.map((program) => (program === 'prose' ? program : reply(program)));
  const agent: Agent = { name: 'writer', reply: async ({ attempt }) => ({ text: replies[attempt - 1] ?? '', tokens: 10 }) };
  const userdata = { subject: `Mail to ${SECRET}`, fields: {} };
  await loop.runLoop({ sid: 's', userdata, agent, repair: { changed: 'proceed' } });
  const [record] = await store.turns('s');
  if (record === undefined) throw new Error('the session has no turn');
  return { store, record };
}
