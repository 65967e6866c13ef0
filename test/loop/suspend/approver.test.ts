// @module-tag slow
import { describe, expect, it } from 'vitest';
import { program } from '../../../conformance/language/generate/programs.ts';
import { Random } from '../../../conformance/language/generate/random.ts';
import { parse } from '../../../grammar/index.ts';
import { MemoryStore, PLAN, type TurnRecord } from '../../../src/loop/index.ts';
import { apartFrom, defineTool, type Grant, type ToolDefinition } from '../../../src/tools/index.ts';
import { misjudged, narrower, type Passed } from '../../foresee/gate.ts';
import { programs } from '../../grammar/decoder/corpus.ts';
import { agentOf, openHost, SESSION } from './stage.ts';

const TOKEN = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';

/** How many plans are approved. */
const PROGRAMS = 200;

/** The programs of the corpora as ACTIONS, then the blocks of generated programs. Those without a call of a tool are left out. */
function* actions(): Generator<string> {
  for (const text of programs()) {
    const main = /^func main\(\) means\n([\s\S]*)\nendfunc\n$/.exec(text)?.[1];
    const block = main === undefined ? text : `command\n${main}\nendcommand\n`;
    if (isBlock(block)) yield block;
  }
  for (let seed = 0; ; seed++) {
    const { source } = program(seed, { tools: true });
    const parsed = parse(source, { name: 'test.ns' });
    const [command] = parsed.ok ? parsed.file.commands : [];
    const block = command === undefined || !parsed.ok ? '' : `${parsed.text.slice(command.s, command.e)}\n`;
    if (isBlock(block)) yield block;
  }
}

function isBlock(text: string): boolean {
  const parsed = parse(text, { name: 'test.ns' });
  if (!parsed.ok) return false;
  const { commands, procedures, events } = parsed.file;
  if (/\bask\b|promptuser/.test(text)) return false;
  return commands.length === 1 && procedures.length + events.length === 0 && toolsIn(text).length > 0;
}

function toolsIn(text: string): readonly string[] {
  return [...new Set(text.toLowerCase().match(/\btool\.[a-z_]\w*(?:\.[a-z_]\w*)+(?=\()/g))].filter(
    (name) => !name.startsWith('tool.aeiou'),
  );
}

const args = Array.from({ length: 12 }, (_, index) => ({ name: `a${index}`, type: 'any', required: false }) as const);
const ANSWERS = ['k', ['a', 'b'], { k: 1, id: 'x' }, 2, null, true];

/** A tool that answers something, or fails, by the number of its call. */
function answering(name: string): ToolDefinition {
  let calls = 0;
  const run = () => {
    calls += 1;
    if (calls % 7 === 0) throw new Error('it failed');
    return ANSWERS[(calls + name.length) % ANSWERS.length] ?? null;
  };
  return defineTool({ name, args, setsVariables: false, run });
}

const passedOf = ({ journal }: TurnRecord): readonly Passed[] =>
  journal.flatMap((entry): readonly Passed[] => {
    if (entry.kind === 'tool' && entry.name.startsWith('tool.aeiou.')) return [];
    const { outcome, kind } = entry;
    const [name, given] =
      kind === 'tool'
        ? [entry.name, entry.args]
        : kind === 'ask'
          ? ['ask', [entry.model, entry.prompt, entry.options]]
          : ['promptuser', [entry.text]];
    const message = outcome.ok || 'halted' in outcome ? '' : outcome.message;
    const passed = {
      name,
      args: given,
      shown: `${name}(${JSON.stringify(given)})`,
      refusal: message.startsWith('outside of the grant') ? message : null,
    };
    return [outcome.ok ? { ...passed, answer: outcome.value } : passed];
  });

describe('issue 47: a scripted approver of 200 programs', () => {
  it('is asked once a task, no call is outside of its grant, and a grant that is narrower by one stops exactly there', async () => {
    const all = actions()
      .take(2 * PROGRAMS)
      .toArray();
    const tools = [...new Set(all.flatMap(toolsIn))].map(answering);
    const store = new MemoryStore();
    await using here = await openHost(tools, { store, approve: 'plan', maxReasks: 0 });
    const wrong: string[] = [];
    const prompts = { each: 0, plan: 0, tasks: 0, stopped: 0 };
    for (const [index, text] of all.entries()) {
      if (prompts.tasks === PROGRAMS) break;
      const limits = { fuel: 20_000, toolCalls: 50 };
      const session = { agent: agentOf(text), limits, keepTurns: true };
      const run = async (sid: string, answerTo: (grant: Grant) => Grant | undefined) => {
        let approved: Grant | null = null;
        let asked = 0;
        let result = await here.loop.runLoop({ ...SESSION, ...session, sid });
        for (; result.waiting?.plan !== undefined; asked++) {
          const grant = answerTo(result.waiting.plan);
          approved = grant ?? result.waiting.plan;
          await here.loop.complete(sid, PLAN, { result: true }, { grant });
          result = await here.loop.resume(sid, session);
        }
        const [record] = result.turns;
        return { passed: record === undefined ? [] : passedOf(record), approved, asked };
      };
      const whole = await run(`s${index}`, () => undefined);
      if (whole.approved === null) continue;
      const made = whole.passed.filter(({ refusal }) => refusal === null).length;
      prompts.tasks += 1;
      prompts.each += made;
      prompts.plan += whole.asked;
      const refused = whole.passed.find(({ refusal }) => refusal !== null);
      if (refused !== undefined) wrong.push(`${text}\n${refused.shown}: ${refused.refusal}`);
      const outside = misjudged(whole.approved, whole.passed);
      if (outside !== null) wrong.push(`${text}\n${outside}`);
      if (index % 4 > 0) continue;
      const less = await run(`n${index}`, (grant) => narrower(grant, new Random(index)) ?? undefined);
      const misplaced = less.approved === null ? null : misjudged(less.approved, less.passed);
      if (misplaced !== null) wrong.push(`narrower: ${text}\n${misplaced}`);
      if (less.passed.some(({ refusal }) => refusal !== null)) prompts.stopped += 1;
    }
    expect(wrong).toEqual([]);
    expect(prompts).toMatchObject({ tasks: PROGRAMS, plan: PROGRAMS });
    expect(prompts.each).toBeGreaterThan(1.5 * PROGRAMS);
    expect(prompts.stopped).toBeGreaterThan(PROGRAMS / 8);
  });
});

describe('issue 47: a scripted approver of 200 repaired programs', () => {
  it('lets nothing happen outside of what was approved, and is refused nothing', async () => {
    const all = actions()
      .take(3 * PROGRAMS)
      .toArray();
    const tools = [...new Set(all.flatMap(toolsIn))].map(answering);
    const store = new MemoryStore();
    await using here = await openHost(tools, { store, approve: 'plan' });
    const wrong: string[] = [];
    const counts = { tasks: 0, asked: 0, again: 0, taken: 0 };
    const end = /\n?endcommand\s*$/;
    for (const [index, text] of all.entries()) {
      if (counts.tasks === PROGRAMS) break;
      const other = all[(index * 7 + 3) % all.length] ?? '';
      const first = text.replace(end, `\n${TOKEN}\nfail "x"\nendcommand\n`);
      const inner = (one: string) => one.slice(one.indexOf('\n') + 1).replace(end, '');
      const second =
        index % 2 === 0
          ? `command\n${inner(text)}\n${inner(other)}\n${TOKEN}\nendcommand\n`
          : `command\n${inner(other)}\n${inner(text)}\n${TOKEN}\nendcommand\n`;
      const replies = [first, second];
      const agent = { reply: async () => await agentOf(replies.shift() ?? '').reply({ turn: 1 }) };
      const session = {
        agent,
        limits: { fuel: 20_000, toolCalls: 50 },
        keepTurns: true,
        maxReasks: 1,
        repair: { changed: 'proceed' as const },
      };
      const sid = `r${index}`;
      let result = await here.loop.runLoop({ ...SESSION, ...session, sid });
      for (let asked = 0; result.waiting?.plan !== undefined; asked++) {
        if (asked > 60) {
          wrong.push(`endless: ${second}`);
          break;
        }
        counts.asked++;
        if (asked > 1) counts.again++;
        await here.loop.complete(sid, PLAN, { result: true });
        result = await here.loop.resume(sid, session);
      }
      const [record] = result.turns;
      if (record === undefined || record.plans === undefined || record.attempts === undefined) continue;
      counts.tasks++;
      const granted = record.plans.flatMap(({ grant }) => grant ?? []);
      let base = 0;
      const calls = granted.flatMap((grant) => {
        const part = apartFrom(grant, base);
        base = Math.max(base, ...part.calls.map(({ number }) => number));
        return part.calls;
      });
      const journals = [
        ...record.attempts.filter(({ end: how }) => how === 'failed').map(({ journal }) => journal),
        record.journal,
      ];
      const journal = journals.flat();
      counts.taken += journal.filter(({ from }) => from !== undefined).length;
      const passed = journals.flatMap((one) => passedOf({ ...record, journal: one.filter(({ from }) => from === undefined) }));
      const refused = passed.find(({ refusal }) => refusal !== null);
      if (refused !== undefined) wrong.push(`refused: ${first}\n${second}\n${refused.shown}: ${refused.refusal}`);
      const outside = misjudged({ version: 1, programs: [], calls }, passed);
      if (outside !== null) wrong.push(`${first}\n${second}\n${outside}`);
    }
    expect(wrong).toEqual([]);
    expect(counts.tasks).toBeGreaterThan(PROGRAMS / 2);
    expect(counts.taken).toBeGreaterThan(0);
    expect(counts.again).toBe(0);
    expect(counts.asked).toBeLessThan(3 * counts.tasks);
  });
});
