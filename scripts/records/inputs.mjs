// The files that the sessions of a corpus are made from: agents, tools, models, a policy. A corpus keeps a copy, to continue its sessions with.

/** What an agent replies in one turn of the v3 protocol. */
const reply = (...lines) =>
  [
    ...['<<<NSENV:V3:START>>>', '<<<NSENV:V3:USERDATA>>>', '{}', '<<<NSENV:V3:ACTIONS>>>', 'command'],
    ...lines.map((line) => `  ${line}`),
    ...['endcommand', '<<<NSENV:V3:END>>>', ''],
  ].join('\n');

/** The statement that ends a turn. */
const loop = (action, request) =>
  `emit tool.aeiou.magic("LOOP", {"action": "${action}"${request === undefined ? '' : `, "request": ${JSON.stringify(request)}`}})`;

const BUY = [
  'set order = tool.shop.Draft("coffee", 3)',
  'emit "draft " + order["id"] + " costs " + order["price"]',
  'set leave = tool.human.Approve("order " + order["id"])',
  'if leave == "yes"',
  '  emit "placed as " + tool.shop.Place(order["id"])',
  'endif',
  loop('continue'),
];

/** The replies of an agent that corrects its program in one turn: it does not parse, then it fails after two calls, then it is right. */
const MENDS = [
  reply('let order = 1', loop('done')),
  reply('emit tool.shop.Place("d-17")', 'emit tool.shop.Draft("coffee", 3)', 'fail "too dear"', loop('done')),
  reply('emit tool.shop.Place("d-17")', loop('done')),
];

/** Agents by name: the replies of each, turn by turn. */
const AGENTS = {
  done: [
    reply(
      'set plan = [{"op": "set", "n": 7}, "ü 😀", 0.1, nil, true]',
      'whisper self, "planned " + len(plan)',
      'emit "PLAN " + plan',
      loop('continue'),
    ),
    reply(
      'set order = tool.shop.Draft("coffee", 3)',
      'on error do',
      '  emit "refused"',
      '  clear_error',
      'endon',
      'for each n in [1, 2, 3]',
      '  emit "step " + n * 1.5',
      'endfor',
      'emit order',
      'emit tool.shop.Draft("tea", 1)',
      loop('done', { notes: 'as planned' }),
    ),
  ],
  abort: [reply('emit "cannot go on"', loop('abort', { reason: 'nothing to buy' }))],
  fails: [reply('emit "before"', 'emit 1 / 0', loop('done'))],
  tokenless: [reply('emit "no token"')],
  syntax: [reply('emit (')],
  stuck: ['one', 'two', 'three', 'four'].map(() => reply('emit "the same"', loop('continue'))),
  endless: ['a', 'b', 'c'].map((text) => reply(`emit "${text}"`, loop('continue'))),
  spins: [reply('set n = 0', 'while true', '  set n = n + 1', 'endwhile')],
  refused: [reply('emit tool.shop.Place("d-17")', loop('done'))],
  forged: [reply('set token = tool.aeiou.magic("LOOP", {"action": "done"})', 'emit replace(token, "LOOP:e", "LOOP:f")')],
  both: [reply(loop('done'), loop('abort'), loop('continue'))],
  asks: [reply('ask "expert", "What is a closure?" with {"max_turns": 3} into answer', 'emit answer', loop('done'))],
  expert: [
    reply('emit "Let me think about " + userdata["fields"]["prompt"]', loop('continue')),
    reply('emit "a function with its bindings"', loop('done')),
  ],
  buys: [reply(...BUY), reply('emit "the order is on its way"', loop('done'))],
  deploys: [reply('emit tool.shop.Deploy("blue")', loop('done'))],
  hangs: [reply('emit "first"', loop('continue')), reply('emit tool.shop.Wait()', loop('done'))],
};

const TOOLS = {
  'tool.shop.Draft': {
    args: ['what', 'count'],
    effects: 'read',
    cases: [{ when: { what: 'coffee' }, returns: { id: 'd-17', price: 12.5 } }, { throws: { message: 'only coffee' } }],
  },
  'tool.human.Approve': {
    args: ['what'],
    returns: 'string',
    cases: [{ pending: { reason: 'somebody must allow the order', expiresIn: 3_000_000_000_000 } }],
  },
  'tool.shop.Place': { args: ['draft'], cases: [{ returns: 'order 4711' }] },
  'tool.shop.Deploy': { args: ['where'], requiresApproval: true, cases: [{ returns: 'deployed' }] },
  'tool.shop.Wait': { args: [], effects: 'read', cases: [{ returns: 'now', delayMs: 'never' }] },
};
const ANSWERING = { ...TOOLS, 'tool.shop.Wait': { args: [], effects: 'read', cases: [{ returns: 'now' }] } };

const V1 = `<<<NSENVELOPE_MAGIC::ACTIONS::v1>>>
command
  emit '{"loop":"continue","notes":"plan ready"}'
  emit "PLAN"
endcommand
---
<<<NSENVELOPE_MAGIC::ACTIONS::v1>>>
command
  emit '{"loop":"done","notes":"applied"}'
  emit tool.shop.Draft("coffee", 1)
endcommand
`;

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** All files by name. */
export const INPUTS = {
  ...Object.fromEntries(Object.entries(AGENTS).map(([name, replies]) => [`${name}.txt`, replies.join('\n')])),
  'v1.txt': V1,
  'mends.mjs': `process.stdout.write(${JSON.stringify(MENDS)}[process.env.NEUROSCRIPT_ATTEMPT - 1]);\n`,
  'tools.json': json({ tools: TOOLS }),
  'answering.json': json({ tools: ANSWERING }),
  'models.json': json({ models: { expert: { provider: 'script', model: 'expert.txt' } } }),
  'policy.json': json({ allow: ['tool.*'], deny: ['tool.shop.Place'], onPolicyBreach: 'halt' }),
  'userdata.json': json({ subject: 'Buy coffee', brief: 'Ask first.', fields: { n: 3, 10: 'ten', 9: 'nine' } }),
  'redact.json': json({ tools: ['tool.shop.*'], keys: ['price'] }),
  'deploy.json': json({ tool: 'tool.shop.deploy', args: ['blue'] }),
  'later.json': json({ command: ['echo', 'later'] }),
  'now.json': json({ command: ['echo', 'now'] }),
  'game.ns': 'command\n  emit tool.shop.Draft("coffee", 3)\nendcommand\n',
  'keeps.ns': 'command\n  emit tool.memory.CAS("/a", 0, {"n": 1})\nendcommand\n',
  'reads.ns': 'command\n  emit tool.memory.Get("/a")\nendcommand\n',
};
