import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { command, folder } from './spawn.ts';
import { within } from './terminal.ts';

const envelope = (...lines: readonly string[]): string =>
  [
    '<<<NSENV:V3:START>>>',
    '<<<NSENV:V3:USERDATA>>>',
    '{"subject":"s","fields":{}}',
    '<<<NSENV:V3:ACTIONS>>>',
    command(...lines).trimEnd(),
    '<<<NSENV:V3:END>>>\n',
  ].join('\n');
const TOOLS = 'tools: { tool.shop.Price: { args: [item], cases: [{ returns: 3 }] } }\n';

describe('issue 22.4: neuroscript policy', () => {
  it('suggests a policy, tries it, lists what a narrower one changes, and says why', async () => {
    const agent = envelope('emit tool.shop.Price("tea")', 'emit tool.aeiou.magic("LOOP", {"action": "done"})');
    const cwd = folder({
      'e.txt': agent,
      'tools.yaml': TOOLS,
      'narrow.yaml': 'allow: ["*"]\ndeny: ["*.price"]\n',
      'open.yaml': 'allow: ["*"]\n',
    });
    const run = (...args: readonly string[]) => within(args, { cwd });
    const tools = ['--tools', 'tools.yaml'];
    const loop = ['loop', '--agent', 'script:e.txt', '--sid', 's', '--store', 's.db', ...tools];
    expect(await run(...loop)).toMatchObject({ code: 0 });

    const suggested = await run('policy', 'suggest', '--from', 's.db', ...tools);
    const when = 'when:\n  "tool.shop.price":\n    - {"item":"tea"}\n';
    expect(suggested).toEqual({ code: 0, stdout: `allow:\n  - "tool.shop.price"\n${when}`, stderr: '' });
    writeFileSync(join(cwd, 'suggested.yaml'), suggested.stdout);
    expect(await run('policy', 'test', 'suggested.yaml', '--against', 's.db', ...tools)).toEqual({
      code: 0,
      stdout: '1 session, 2 verdicts: 0 changed\n',
      stderr: '',
    });
    expect(await run('policy', 'test', 'narrow.yaml', '--against', 's.db')).toEqual({
      code: 1,
      stdout: [
        's  turn 1  call 1.1  tool.shop.price',
        '  before  allowed by allow: the pattern tool.shop.price of allow matches',
        "  after   denied by deny: tool 'tool.shop.price' denied by policy rule: *.price",
        '1 session, 2 verdicts: 1 changed\n',
      ].join('\n'),
      stderr: 'neuroscript: only the names of these tools are known; give --tools or --mcp: tool.shop.price\n',
    });
    expect(await run('policy', 'explain', 'narrow.yaml', 'tool.shop.Price')).toEqual({
      code: 4,
      stdout: [
        "tool.shop.price: denied by deny: tool 'tool.shop.price' denied by policy rule: *.price",
        '  context  passes  the tool requires no trust',
        "  deny     DENIES  tool 'tool.shop.price' denied by policy rule: *.price",
        '  the definition is not known, so only the name is judged; give --tools FILE\n',
      ].join('\n'),
      stderr: '',
    });
    expect(await run('policy', 'explain', 'suggested.yaml', 'tool.shop.Price', '"tea"', ...tools)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('arguments: they fit'),
    });
    expect(await run('policy', 'explain', 'open.yaml', 'tool.shop.Price', ...['1', '2'], ...tools)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('arguments: tool'),
    });
    expect(await run('policy', 'explain', 'suggested.yaml', 'tool.aeiou.magic')).toMatchObject({ code: 0 });
    expect(await run('policy', 'explain', 'suggested.yaml', 'tool.shop.Price', 'tea', ...tools)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('argument tea: it is not JSON'),
    });

    expect(await run('sessions', 'erase', 's', '--store', 's.db')).toMatchObject({ code: 0 });
    const { code, stdout } = await run('policy', 'test', 'narrow.yaml', '--against', 's.db', '--json');
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 1, ok: false, changed: [], lost: [{ sid: 's', turn: 1 }] });
  });

  it('issue 46: suggests what arguments and order had in common, and refuses nothing of the past by it', async () => {
    const turns = [1, 2, 3].map((turn) =>
      envelope(
        'emit tool.pay.Quote("EUR")',
        `emit ${turn}`,
        `emit tool.pay.Transfer("user${turn}@example.com", ${turn * 100}, "EUR")`,
        `emit tool.aeiou.magic("LOOP", {"action": "${turn === 3 ? 'done' : 'continue'}"})`,
      ),
    );
    const cwd = folder({
      'e.txt': turns.join('---\n'),
      'tools.yaml':
        'tools:\n  tool.pay.Quote: { args: [currency], cases: [{ returns: 1 }] }\n  tool.pay.Transfer: { args: [to, amount, currency], cases: [{ returns: true }] }\n',
    });
    const run = (...args: readonly string[]) => within([...args, '--tools', 'tools.yaml'], { cwd });
    expect(await run('loop', '--agent', 'script:e.txt', '--sid', 's', '--store', 's.db')).toMatchObject({ code: 0 });
    const { stdout } = await run('policy', 'suggest', '--from', 's.db');
    expect(stdout).toBe(
      `${[
        'allow:',
        '  - "tool.pay.quote"',
        '  - "tool.pay.transfer"',
        'when:',
        '  "tool.pay.quote":',
        '    - {"currency":"EUR"}',
        '  "tool.pay.transfer":',
        '    - {"to":"*@example.com","amount":{"min":100,"max":300},"currency":"EUR"}',
        'order:',
        '  - {"tool":"tool.pay.transfer","needs":"tool.pay.quote","within":"turn"}',
      ].join('\n')}\n`,
    );
    writeFileSync(join(cwd, 'p.yaml'), stdout);
    expect(await run('policy', 'test', 'p.yaml', '--against', 's.db')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(': 0 changed'),
    });
  });

  it('issue 46: judges arguments and order, of one call and of recorded ones, over the turns of a session', async () => {
    const turn = (action: string, ...lines: readonly string[]) =>
      envelope(...lines, `emit tool.aeiou.magic("LOOP", {"action": "${action}"})`);
    const cwd = folder({
      'e.txt': `${turn('continue', 'emit tool.shop.Price("tea")')}---\n${turn('done', 'emit tool.shop.Price("gold")')}`,
      'tools.yaml': TOOLS,
      'p.yaml':
        'allow: ["*"]\nwhen: { tool.shop.Price: [{ item: { in: [tea, gold] } }] }\norder: [{ tool: tool.shop.Price, not-after: tool.shop.Price }]\n',
    });
    const run = (...args: readonly string[]) => within([...args, '--tools', 'tools.yaml'], { cwd });
    expect(await run('loop', '--agent', 'script:e.txt', '--sid', 's', '--store', 's.db')).toMatchObject({ code: 0 });
    const past = await run('policy', 'test', 'p.yaml', '--against', 's.db');
    expect(past.stdout).toMatch(
      /^s {2}turn 2 {2}call 2\.1 .*\n.*\n {2}after {3}denied by order: .*\n1 session, .*: 1 changed\n$/,
    );
    const explained = await run('policy', 'explain', 'p.yaml', 'tool.shop.Price', '"car"');
    expect(explained).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(/denied by when: .*item' is "car"\n(.*\n)* {2}order {4}may deny/),
    });
    const { code, stdout } = await run('policy', 'explain', 'p.yaml', 'tool.shop.Price', '"tea"', '--json');
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, allowed: true, breaches: [{ rule: 'order', sure: false }] });
  });

  it('issue 46: explains what rules about origin say of a tool', async () => {
    const cwd = folder({
      'tools.yaml': TOOLS,
      'p.yaml': [
        'allow: ["*"]',
        'flow:',
        '  labels: { tool.web.*: [web] }',
        '  sinks:',
        '    tool.shop.Price: { refuse: [web], deciding: true }',
        '    tool.shop.Price.item: { ask: [web] }',
        '    tool.shop.Order: { refuse: [web] }',
        '  endorse: { tool.shop.Price: [web] }\n',
      ].join('\n'),
    });
    const explained = (tool: string, ...more: readonly string[]) =>
      within(['policy', 'explain', 'p.yaml', tool, '--tools', 'tools.yaml', ...more], { cwd });
    expect((await explained('tool.shop.Price')).stdout.match(/ {2}flow .*/g)).toEqual([
      '  flow     DENIES  every argument, and what decides on the call, with web (tool.shop.Price)',
      "  flow     ASKS    the argument 'item' with web (tool.shop.Price.item)",
      '  flow     takes   web from its results',
    ]);
    expect((await explained('tool.web.Get')).stdout).toContain('  flow     gives   its results web\n');
    const { origin } = JSON.parse((await explained('tool.shop.Price', '--json')).stdout);
    expect(origin).toMatchObject({
      gives: [],
      endorses: ['web'],
      sinks: [{ argument: null, deciding: true }, { argument: 'item' }],
    });
  });

  it('issue 46: the hint for a denied tool adds to the policy that was given', async () => {
    const cwd = folder({
      't.ns': command('emit tool.shop.Price("tea")'),
      'tools.yaml': TOOLS,
      'p.yaml': 'allow: [tool.other.*]\n',
    });
    const { stderr } = await within(['run', 't.ns', '--tools', 'tools.yaml', '--policy', 'p.yaml'], { cwd });
    expect(stderr).toContain('hint: allow it by adding to the file of --policy FILE: {allow: [tool.shop.price]}');
  });
});
