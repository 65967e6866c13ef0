import { type Agent, programReply } from '../../src/loop/index.ts';
import type { Scenario, World } from '../../src/testing/simulation/scenario.ts';
import { defineTool } from '../../src/tools/index.ts';
import { toldIn } from './told.ts';

/** Programs of the agent, by what the session is for. Each turn is one of them. */
const PROGRAMS: readonly string[] = [
  'emit tool.shop.Price("tea")\n  whisper self, "seen"',
  'set paid = tool.bank.Pay("{{order}}-a", {{amount}})\n  set again = tool.bank.Pay("{{order}}-b", 7)\n  emit paid + again',
  'set ok = tool.human.Approve("order {{order}}")\n  if ok\n    emit tool.bank.Pay("{{order}}-c", 3)\n  endif',
  'set sent = tool.mail.Send("{{order}}")\n  emit sent',
  'set sent = tool.mail.Send("{{order}}")\n  emit tool.human.Approve("{{order}}")\n  emit sent',
  'together\n    set a = tool.bank.Pay("{{order}}-d", {{amount}})\n    set b = tool.shop.Price("tea")\n    set c = tool.mail.Send("{{order}}")\n  endtogether\n  emit [a, b, c]',
  'together\n    set a = tool.human.Approve("order {{order}} for me")\n    set b = tool.human.Approve("order {{order}}")\n    set c = tool.bank.Pay("{{order}}-e", 5)\n  endtogether\n  if b\n    emit tool.bank.Pay("{{order}}-f", {{amount}})\n  endif\n  emit [a, b, c]',
  'ask "clerk", "{{order}}" into answer\n  emit answer\n  emit tool.bank.Pay("{{order}}-g", 2)',
];

function programOf(body: string, action: 'continue' | 'done'): string {
  return `command\n  ${body}\n  emit tool.aeiou.magic("LOOP", {"action": "${action}"})\nendcommand`;
}

/** A shop: agents look at prices, pay, ask people, and send mail. */
export function shop(world: World): Scenario {
  const { random } = world;
  const paid = new Map<string, number>();
  const keys = new Set<string>();
  const approved = new Set<string>();
  const pay = defineTool({
    name: 'tool.bank.Pay',
    args: [
      { name: 'order', type: 'string' },
      { name: 'amount', type: 'int' },
    ],
    returns: 'int',
    idempotent: true,
    run: ({ order, amount }, { call }) => {
      const key = call.key ?? '';
      if (!keys.has(key)) paid.set(order, (paid.get(order) ?? 0) + 1);
      keys.add(key);
      return amount;
    },
  });
  const price = defineTool({
    name: 'tool.shop.Price',
    args: [{ name: 'item', type: 'string' }],
    returns: 'int',
    effects: 'read',
    run: () => random.between(1, 9),
  });
  const approve = defineTool({
    name: 'tool.human.Approve',
    args: [{ name: 'what', type: 'string' }],
    returns: 'bool',
    run: ({ what }, runtime) => runtime.pending({ reason: `may I ${what}?`, expiresIn: 20_000 }),
  });
  const send = defineTool({
    name: 'tool.mail.Send',
    args: [{ name: 'what', type: 'string' }],
    returns: 'string',
    run: ({ what }) => `sent ${what}`,
  });
  // Many mistakes show in a small world, which costs little. Those of leases need sessions that compete for their hosts.
  const isSmall = random.chance(0.5);
  const count = isSmall ? random.pick([1, 1, 2]) : random.between(1, 4);
  const lengths = Array.from({ length: count }, () => (isSmall ? random.pick([1, 1, 2]) : random.between(1, 3)));
  const styles = Array.from({ length: count }, () => random.between(0, PROGRAMS.length - 1));
  // Somebody else's agent: asked again after a crash, it finds the same program for the same order.
  const clerk: Agent = {
    name: 'clerk',
    reply: async ({ prompt }) => programReply(programOf(`emit tool.bank.Pay("${/s\d+-\d+/.exec(prompt)?.[0]}-n", 4)`, 'done')),
  };
  return {
    models: { clerk },
    sessions: lengths.map((_, index) => ({
      userdata: { subject: 'shop', fields: { order: index } },
      durable: random.chance(0.5) ? 'call' : 'turn',
    })),
    tools: [pay, price, approve, send],
    agent: {
      name: 'shopper',
      reply: async ({ sid, turn, prompt }) => {
        // A tool was away: the program was right, and is written again.
        const failed = toldIn(prompt)?.program ?? null;
        if (failed !== null) return programReply(failed);
        const index = Number(sid.slice(1)) - 1;
        const body = PROGRAMS[((styles[index] ?? 0) + turn) % PROGRAMS.length] ?? '';
        // Asked twice, the agent writes another program: what was begun goes on with the first one.
        const amount = String(random.between(1, 9));
        const text = body.replaceAll('{{order}}', `${sid}-${turn}`).replaceAll('{{amount}}', amount);
        const action = turn < (lengths[index] ?? 1) ? 'continue' : 'done';
        return programReply(programOf(text, action));
      },
    },
    // A person approves some orders, and finds out whether a mail was sent and an order was paid.
    answer: ({ tool, args: [what] }) => {
      if (tool === 'tool.mail.send') return { result: 'sent, as a person found out' };
      const isApproved = random.chance(0.7);
      const order = /^order (s\d+-\d+)$/.exec(String(what))?.[1];
      if (isApproved && order !== undefined) approved.add(order);
      return { result: isApproved };
    },
    invariants: {
      'nobody pays twice': () => {
        const twice = [...paid].find(([, times]) => times > 1);
        return twice === undefined ? null : `order ${twice[0]} was paid ${twice[1]} times`;
      },
      'nobody pays without approval': () => {
        const [order] = [...paid.keys()].filter((each) => /-[cf]$/.test(each) && !approved.has(each.slice(0, -2)));
        return order === undefined ? null : `order ${order} was paid`;
      },
    },
  };
}
