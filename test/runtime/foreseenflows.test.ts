import { describe, expect, it } from 'vitest';
import { foresee, parse } from '../../grammar/index.ts';
import { RealmSandbox } from '../../src/engine/sandbox.ts';
import { foreseenLabels } from '../../src/runtime/foreseenlabels.ts';
import { Runtime } from '../../src/runtime/runtime.ts';
import { checkSettings } from '../../src/runtime/settings.ts';
import { decideCall, defineTool, Policy } from '../../src/tools/index.ts';
import { BOUNDING_COSTS } from '../../src/wire/costs.ts';
import type { JournalEntry } from '../../src/wire/journal.ts';
import { Dice, programOf } from './callprograms.ts';

const policy = new Policy({
  flow: {
    labels: { 'tool.web.*': ['web'], 'userdata.fields.note': ['web'], 'event.mail': ['web'] },
    sinks: { 'tool.mail.Send.to': { refuse: ['web'] }, 'tool.pay.Transfer': { refuse: ['web'], deciding: true } },
  },
});
const send = defineTool({
  name: 'tool.mail.Send',
  args: ['to', 'body'].map((name) => ({ name, type: 'any', required: false }) as const),
  run: () => null,
});
const pay = defineTool({ name: 'tool.pay.Transfer', args: [{ name: 'amount', type: 'any' }], run: () => null });

/** What is said of the sinks of a program: whether each may break the policy, and from which line. */
function foreseen(lines: readonly string[], lib = ''): (number | null | false)[] {
  const sources = [lib, ['command', ...lines, 'endcommand'].join('\n')].filter((text) => text !== '');
  const files = sources.map((text, index) => {
    const parsed = parse(text, { name: `f${index}` });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors[0]));
    return { file: parsed.file, text };
  });
  const { calls } = foresee(files, BOUNDING_COSTS, {
    globals: ['userdata'],
    keeping: ['tool.web.get', 'tool.web.list', 'tool.crm.read', 'tool.mail.send', 'tool.pay.transfer'],
    pure: ['tool.str.upper'],
  });
  return calls.flatMap((call) => {
    const tool = [send, pay].find(({ canonicalName }) => canonicalName === call.name);
    if (tool === undefined || policy.flow === null) return [];
    const labels = foreseenLabels(policy.flow, call);
    const question = {
      tool,
      args: call.args,
      before: { called: () => false as const },
      labels,
      isTool: (name: string) => name === send.canonicalName,
    };
    const [breach] = decideCall(policy, question);
    return [breach === undefined ? false : (breach.sources[0]?.line ?? null)];
  });
}

const W = 'set w = tool.web.Get()';
const SEND = 'call tool.mail.Send(x, "hello")';

describe('issue 46: where the arguments of foreseen calls come from', () => {
  it.each<[name: string, lines: readonly string[], lib?: string]>([
    ['a value', [W, 'set x = w', SEND]],
    ['an operand', [W, 'set x = "a" + w', SEND]],
    ['a template', [W, 'set x = ```a{{w}}```', SEND]],
    ['an element', [W, 'set x = w.to', SEND]],
    ['an element at a position', [W, 'set x = ["a@b", "c@d"][w]', SEND]],
    ['a part of a map', [W, 'set m = {"to": w, "body": "b"}', 'set x = m.to', SEND]],
    ['a part that was set', [W, 'set m = {}', 'set m["to"] = w', 'set x = m["to"]', SEND]],
    ['a part under a name that is not known', [W, 'set m = {}', 'set m[w] = "a@b"', 'set x = m["a"]', SEND]],
    ['a loop over values', [W, 'set x = ""', 'for each y in w', 'set x = y', 'endfor', SEND]],
    ['a loop over characters', [W, 'set x = ""', 'for each c in "a" + w', 'set x = x + c', 'endfor', SEND]],
    ['a loop over keys', [W, 'set x = ""', 'for each k, v in w', 'set x = k', 'endfor', SEND]],
    [
      'a loop over the keys of a map that was made',
      [W, 'set m = {w: 1}', 'for each k, v in m', 'call tool.mail.Send(k)', 'endfor'],
    ],
    ['if', [W, 'set x = "a@b"', 'if w == 1', 'set x = "c@d"', 'endif', SEND]],
    ['else', [W, 'set x = "a@b"', 'if w == 1', 'set y = 1', 'else', 'set x = "c@d"', 'endif', SEND]],
    ['a search', [W, 'set x = ""', 'for each c in ["a", "b"]', 'if c == w', 'set x = c', 'break', 'endif', 'endfor', SEND]],
    ['the number of passes', [W, 'set x = 0', 'for each c in w', 'set x = x + 1', 'endfor', SEND]],
    ['the number of passes of a while', [W, 'set x = 0', 'while x < w', 'set x = x + 1', 'endwhile', SEND]],
    [
      'an early end of a pass',
      [W, 'set x = ""', 'for each c in ["a", "b"]', 'if w == 1', 'continue', 'endif', 'set x = c', 'endfor', SEND],
    ],
    ['an early end of the run', [W, 'must w == 1', 'set x = "a@b"', SEND]],
    ['and, or', [W, 'set x = w and true', SEND]],
    ['a procedure', [W, 'set x = f(w)', SEND], 'func f(needs a) means\nreturn a + "b"\nendfunc'],
    [
      'what a procedure returns under a condition',
      [W, 'set x = f(w)', SEND],
      'func f(needs a) means\nif a == 1\nreturn "a@b"\nendif\nreturn "c@d"\nendfunc',
    ],
    ['a sink in a procedure', [W, 'call f(w)'], 'func f(needs a) means\ncall tool.mail.Send(a)\nendfunc'],
    [
      'a procedure that calls itself',
      [W, 'set x = f(w, 3)', SEND],
      'func f(needs a, n) means\nif n == 0\nreturn a\nendif\nreturn f(a, n - 1)\nendfunc',
    ],
    ['a handler', ['set x = "a@b"', 'on error do', 'set x = "c@d"', 'clear_error', 'endon', W, 'set n = w * 2', SEND]],
    [
      'the message of an error',
      ['on error do', 'call tool.mail.Send(system_error.message)', 'clear_error', 'endon', W, 'fail w'],
    ],
    ['calls that run together', ['together', 'set x = tool.web.Get()', 'set y = tool.crm.Read()', 'endtogether', SEND]],
    ['a pure tool', [W, 'set x = tool.str.Upper(w)', SEND]],
    ['another tool', [W, 'set x = tool.crm.Read(w)', SEND]],
    ['USERDATA', ['set x = userdata.fields.note', SEND]],
    ['all of USERDATA', ['set x = userdata', SEND]],
    ['an ask', [W, 'ask "m", w into x', SEND]],
    ['last', ['emit tool.web.Get()', 'set x = last', SEND]],
    ['a list', [W, 'set l = ["a", w]', 'for each x in l', SEND, 'endfor']],
    [
      'a variable that is set later in a loop',
      [W, 'set a = ""', 'set b = ""', 'set x = ""', 'while true', SEND, 'set x = b', 'set b = a', 'set a = w', 'endwhile'],
    ],
    ['whether a call is made', [W, 'if w == 1', 'call tool.pay.Transfer(5)', 'endif']],
    ['how often a call is made', [W, 'for each x in w', 'call tool.pay.Transfer(5)', 'endfor']],
    ['an event', ['call tool.crm.Read()'], 'on event "mail" as e do\ncall tool.mail.Send(e.payload)\nendon'],
  ])('finds %s', (_, lines, lib) => {
    const said = foreseen(lines, lib);
    expect(said.length).toBeGreaterThan(0);
    expect(said.some((line) => line !== false)).toBe(true);
  });

  it.each<[name: string, lines: readonly string[], lib?: string]>([
    ['a text of the program', [W, 'set x = "a@b"', SEND]],
    ['another argument', [W, 'call tool.mail.Send("a@b", w)']],
    ['another part of a map', [W, 'set m = {"to": "a@b", "body": w}', 'call tool.mail.Send(m.to, m.body)']],
    ['another part of a list', [W, 'set l = ["a@b", w]', 'call tool.mail.Send(l[0], l[1])']],
    ['a part that was set beside', [W, 'set m = {"to": "a@b"}', 'set m.body = w', 'call tool.mail.Send(m.to, m.body)']],
    ['a variable that was set anew', [W, 'set x = w', 'set x = "a@b"', SEND]],
    ['a call under a condition', [W, 'if w == 1', 'call tool.mail.Send("a@b", w)', 'endif']],
    ['another tool', ['set x = tool.crm.Read()', SEND]],
    ['another part of USERDATA', ['set x = userdata.fields.to', SEND]],
    ['a loop over texts of the program', [W, 'for each x in ["a", "b"]', 'call tool.mail.Send(x, w)', 'endfor']],
    [
      'a procedure that is called with both',
      [W, 'set y = f(w)', 'set x = f("a@b")', SEND],
      'func f(needs a) means\nreturn a\nendfunc',
    ],
    ['a condition that is over', [W, 'if w == 1', 'set y = 1', 'endif', 'set x = "a@b"', SEND]],
    ['a loop that is over', [W, 'for each y in w', 'if y == 1', 'break', 'endif', 'endfor', 'set x = "a@b"', SEND]],
    ['a sink before the source', ['set x = "a@b"', SEND, W]],
    ['an answer of a person', [W, 'promptuser w into x', SEND]],
    ['a payment that nothing decides', [W, 'call tool.pay.Transfer(5)']],
  ])('accuses no program of %s', (_, lines, lib) => {
    expect(foreseen(lines, lib)).not.toContain(2);
    expect(foreseen(lines, lib).every((line) => line === false)).toBe(true);
  });

  it('names the line of the source', () => {
    expect(foreseen(['set a = 1', W, 'set x = w', SEND])).toEqual([3]);
  });
});

describe('issue 46: what decides on a call is among its origins', () => {
  const TOOLS = ['tool.web.Get', 'tool.db.Write', 'tool.pay.Quote', 'tool.pay.Transfer'];
  let fetched: unknown = 1;
  const tools = TOOLS.map((name) =>
    defineTool({
      name,
      setsVariables: false,
      args: ['a', 'b'].map((each) => ({ name: each, type: 'any', required: false }) as const),
      run: ({ a }) => (name === 'tool.web.Get' ? fetched : a),
    }),
  );

  it('in 150 programs, each run with several results of one tool', { timeout: 300_000 }, async () => {
    await using runtime = new Runtime(new RealmSandbox(), checkSettings({ tools, policy: { allow: ['*'] } }));
    const keeping = TOOLS.map((name) => name.toLowerCase());
    const wrong: unknown[] = [];
    let differing = 0;
    for (let seed = 1; seed <= 150; seed++) {
      const { lib, source } = programOf(new Dice(seed));
      const files = [lib, source].map((text, index) => {
        const parsed = parse(text, { name: index === 0 ? 'lib' : 'src' });
        if (!parsed.ok) throw new Error('the program has a mistake');
        return { file: parsed.file, text };
      });
      const { calls } = foresee(files, BOUNDING_COSTS, { globals: ['g'], keeping });
      const runs: (readonly JournalEntry[])[] = [];
      for (fetched of [0, 1, 'http:x', null]) runs.push((await runtime.run(source, { lib, values: { g: 1 } })).journal);
      const [first = [], ...others] = runs;
      for (const other of others) {
        const found = firstDifference(first, other);
        if (found === null) continue;
        differing++;
        const [one, two, argument] = found;
        const foreseenAt = ({ at }: JournalEntry) =>
          calls.filter(({ file, line, column }) => file === at.source && line === at.line && column === at.column);
        const isKnown = (entry: JournalEntry): boolean =>
          foreseenAt(entry).every(({ origins }) => {
            const sources = argument === null ? origins?.deciding : origins?.args[argument];
            return origins === undefined || sources?.some(({ from }) => from === 'tool.web.get') === true;
          });
        if (!isKnown(one) && !isKnown(two)) wrong.push([seed, source, lib, one.at, two.at, argument]);
      }
    }
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(differing).toBeGreaterThan(40);
  });
});

/** The first calls that differ, and the argument in which they do; null for the argument of calls at different places. */
function firstDifference(one: readonly JournalEntry[], other: readonly JournalEntry[]) {
  for (let index = 0; index < Math.min(one.length, other.length); index++) {
    const [a, b] = [one[index], other[index]];
    if (a?.kind !== 'tool' || b?.kind !== 'tool') return null;
    if (a.at.line !== b.at.line || a.at.column !== b.at.column || a.at.source !== b.at.source) return [a, b, null] as const;
    const argument = a.args.findIndex((arg, at) => JSON.stringify(arg) !== JSON.stringify(b.args[at]));
    if (argument >= 0) return [a, b, argument] as const;
  }
  return null;
}

describe('issue 46: rules about origin before a run', () => {
  it('are never milder than at the call: 100 programs', { timeout: 300_000 }, async () => {
    const flow = {
      labels: { 'tool.web.*': ['web'] },
      sinks: { 'tool.db.Write.a': { refuse: ['web'] }, 'tool.pay.Transfer': { refuse: ['web'], deciding: true } },
    } as const;
    const tools = ['tool.web.Get', 'tool.db.Write', 'tool.pay.Quote', 'tool.pay.Transfer'].map((name) =>
      defineTool({
        name,
        setsVariables: false,
        args: ['a', 'b'].map((each) => ({ name: each, type: 'any', required: false }) as const),
        run: ({ a }) => (name === 'tool.web.Get' ? 1 : a),
      }),
    );
    await using runtime = new Runtime(new RealmSandbox(), checkSettings({ tools, policy: { allow: ['*'], flow } }));
    const wrong: unknown[] = [];
    let refusals = 0;
    for (let seed = 1; seed <= 100; seed++) {
      const { lib, source } = programOf(new Dice(seed));
      const { preview } = await runtime.foresee(source, { lib, values: { g: 1 } });
      const { journal } = await runtime.run(source, { lib, values: { g: 1 } });
      for (const { outcome, at } of journal) {
        if (outcome.ok || !('code' in outcome) || outcome.code !== 1003) continue;
        refusals++;
        const rows = preview?.calls.filter(
          ({ file, line, column }) => file === at.source && line === at.line && column === at.column,
        );
        const isForeseen = rows?.some(({ verdict }) => verdict?.policy !== 'keeps' && verdict?.path[0]?.what === 'tool.web.get');
        if (isForeseen !== true) wrong.push([seed, at.line, outcome.message, source, lib]);
      }
    }
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(refusals).toBeGreaterThan(15);
  });
});
