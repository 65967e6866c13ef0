import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NotPromotable, procedureOf } from '../../src/cli/promote/procedure.ts';
import { reply } from '../aeiou/kit.ts';
import { command, folder } from './spawn.ts';
import { within } from './terminal.ts';

const done = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
const USERDATA = { subject: 'report', fields: { to: 'ada@example.org', pages: 3 } };

describe('issue 47, promote: a procedure of a program', () => {
  it('has parameters for the parts of USERDATA that it names, and for literal texts that are equal to one', () => {
    const actions = command(
      '# "report" stays in a comment',
      'set n = userdata.fields["pages"] + 1',
      'emit tool.mail.Send(userdata.fields.to, "report", "ada@example.org", "other", ```{{ userdata.subject }}!```)',
      done,
    );
    expect(procedureOf(actions, USERDATA, 'send')).toEqual({
      text: `func send(needs given_pages, given_to, given_subject) means
  # "report" stays in a comment
  set n = given_pages + 1
  emit tool.mail.Send(given_to, given_subject, given_to, "other", \`\`\`{{ given_subject }}!\`\`\`)
endfunc
`,
      args: [
        { name: 'given_pages', value: 3 },
        { name: 'given_to', value: 'ada@example.org' },
        { name: 'given_subject', value: 'report' },
      ],
    });
  });

  it('leaves a literal text as it is that is compared', () => {
    const compared = ['if userdata.subject == "report"', 'emit "report"', 'endif', 'emit "report" != userdata.subject'];
    const { text } = procedureOf(command(...compared, done), USERDATA, 'send');
    const lines = text.split('\n').map((line) => line.trim());
    expect(lines.slice(1, 5)).toEqual([
      'if given_subject == "report"',
      'emit given_subject',
      'endif',
      'emit "report" != given_subject',
    ]);
  });

  it('keeps nothing of a token but where its block would be empty', () => {
    const actions = command('if 1 == 2', done, 'return', 'endif', 'if 2 == 3', done, 'endif', 'emit 1', done);
    const lines = ['if 1 == 2', '', 'return', 'endif', 'if 2 == 3', 'set ended = true', 'endif', 'emit 1'];
    const { text } = procedureOf(actions, USERDATA, 'send');
    expect(text.split('\n').map((line) => line.trim())).toEqual(['func send() means', ...lines, 'endfunc', '']);
  });

  it.each([
    ['USERDATA as a whole', 'emit userdata'],
    ['all fields', 'for each f in userdata.fields', 'emit f', 'endfor'],
    ['a computed key', 'emit userdata.fields[key]'],
    ['a token in a variable', 'set t = tool.aeiou.magic("LOOP", {"action": "done"})'],
  ])('refuses %s', (_, ...lines) => {
    expect(() => procedureOf(command(...lines), USERDATA, 'send')).toThrow(NotPromotable);
  });
});

it('issue 47: sessions promote makes a procedure with its test and its grant of an approved turn, and of no other', async () => {
  const program = command(
    'set found = tool.t.List(userdata.fields.to)',
    'emit tool.str.ToUpper(tool.t.Send("ada@example.org", found[0], "Dear " + userdata.fields.to, userdata.fields.pages, "x"))',
    'emit "two\\n lines"',
    done,
  );
  const cwd = folder({
    'tools.yaml': `tools:
  tool.t.List: { args: [whose], effects: read, cases: [{ returns: [a, b] }] }
  tool.t.Send: { args: [to, what, text, pages, kind], otherwise: { returns: sent } }
`,
    'agent.txt': reply(program),
    'job.json': JSON.stringify(USERDATA),
  });
  const run = (...args: readonly string[]) => within(args, { cwd });
  await run('keys', 'generate', 'keys.json');
  const store = ['--store', 'jobs.db', '--keys', 'keys.json', '--tools', 'tools.yaml'];
  const agent = ['--agent', 'script:agent.txt'];
  const promote = (turn: string, name = 'send') =>
    run('sessions', 'promote', turn, name, '--library', 'lib', '--store', 'jobs.db', '--tools', 'tools.yaml');
  await run('loop', ...agent, ...store, '--userdata', 'job.json', '--sid', 'free');
  expect(await promote('free:1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('nobody approved the plan of turn 1'),
  });
  await run('loop', ...agent, ...store, '--userdata', 'job.json', '--sid', 's', '--approve', 'plan');
  await run('sessions', 'complete', 's', 'plan', 'true', ...store);
  await run('sessions', 'resume', 's', ...agent, ...store, '--approve', 'plan');
  expect(await promote('s:1')).toMatchObject({ code: 0, stdout: expect.stringContaining('send.grant.yaml') });
  const text = (ending: string): string => readFileSync(join(cwd, 'lib', `send${ending}`), 'utf8');
  expect(text('.ns')).toMatch(
    /^:: description: Calls tool\.t\.send \(may change something\), tool\.t\.list \(reads\)\.\n\nfunc send\(needs given_to, given_pages\) means/,
  );
  expect(text('.grant.yaml')).toContain('to is the parameter given_to');
  expect(text('.grant.yaml')).toContain('call: 1');
  expect(text('.grant.yaml')).toMatch(/when:\n +text: Dear \*\n +kind: x\n/);
  writeFileSync(join(cwd, 'later.ns'), command('call send("bob@example.org", 4)'));
  expect(await run('run', 'lib/send.ns', 'later.ns', '--tools', 'tools.yaml', '--bound', 'lib/send.grant.yaml')).toMatchObject({
    code: 0,
    stdout: 'SENT\ntwo\n lines\n',
  });
  expect(await run('test', 'lib/send.test.ns', '--tools', 'lib/send.mocks.yaml')).toMatchObject({ code: 0 });
  expect(await promote('s:1')).toMatchObject({ code: 2, stderr: expect.stringContaining("a procedure 'send' already") });
  // The name of a procedure of another file of the library.
  writeFileSync(join(cwd, 'lib', 'more.ns'), 'func again(needs to) means\n  return send(to, 1)\nendfunc\n');
  expect(await promote('s:1', 'again')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("a procedure 'again' already"),
  });
  expect(await promote('s:1', 'Again')).toMatchObject({ code: 2, stderr: expect.stringContaining('in letter case alone') });
  // All files or none.
  writeFileSync(join(cwd, 'lib', 'other.grant.yaml'), '');
  expect(await promote('s:1', 'other')).toMatchObject({ code: 2, stderr: expect.stringContaining('it exists already') });
  expect(readdirSync(join(cwd, 'lib')).filter((file) => file.startsWith('other'))).toEqual(['other.grant.yaml']);
});

describe('issue 47, promote: later programs call the procedures of a library', () => {
  const LIBRARY = {
    'tools.yaml': `tools:
  tool.t.List: { args: [], effects: read, cases: [{ returns: [a, b] }] }
  tool.t.Send: { args: [to], otherwise: { returns: sent } }
`,
    'lib/send.ns': `:: description: Sends to one address.

func send(needs to) means
  emit tool.t.Send(to)
endfunc
`,
    'lib/send.test.ns': 'call send("a")\n#=> sent\n',
    'night.yaml': 'agent: script:agent.txt\ntools: tools.yaml\nlibrary: lib\n',
    'agent.txt': reply(command('call send("x")', done)),
    'job.json': JSON.stringify(USERDATA),
  };

  it('tools --format prompt shows how each is called and what it does', async () => {
    const cwd = folder(LIBRARY);
    const prompt = ['tools', 'tool.t.*', '--tools', 'tools.yaml', '--format', 'prompt'];
    const shown = await within([...prompt, '--library', 'lib'], { cwd });
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.stdout).toMatch(
      /^tool\.t\.Send\(to\?\)\n\n`set x = send\(to\)` calls a procedure.*\nsend\(to\)\n {2}Sends to one address\.\n$/m,
    );
    expect((await within([...prompt, '--brief', '--library', 'lib'], { cwd })).stdout).not.toContain('Sends');
    expect(await within(['tools', '--library', 'lib'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--library need --format prompt'),
    });
  });

  it('a loop with the key library names them to its agent and runs them, also in a rehearsal, and its turns replay', async () => {
    const agent = `import { readFileSync, writeFileSync } from 'node:fs';
writeFileSync('prompt', readFileSync(0));
process.stdout.write(readFileSync('agent.txt'));
`;
    const cwd = folder({ ...LIBRARY, 'agent.mjs': agent });
    const run = (...args: readonly string[]) => within(args, { cwd });
    const drive = ['--config', 'night.yaml', '--agent', `command:${process.execPath} agent.mjs`, '--rehearse', 'tools.yaml'];
    const ran = await run('loop', ...drive, '--userdata', 'job.json', '--store', 'jobs.db', '--sid', 's');
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('= "sent"') });
    expect(ran.stdout).not.toContain('rehearsal');
    expect(readFileSync(join(cwd, 'prompt'), 'utf8')).toMatch(/# Procedures\n\n.*\nsend\(to\)\n {2}Sends to one address\./);
    expect(await run('replay', 's', '--store', 'jobs.db')).toMatchObject({ code: 0 });
    expect(await run('loop', '--profile', 'v1', ...drive)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("'library' of a configuration cannot be combined"),
    });
  });

  it.each([
    ['a procedure of another file', 'func send(needs to) means\n  emit 1\nendfunc', "zz.ns: there is a procedure 'send' already"],
    [
      'one that differs in letter case',
      'func Send(needs to) means\n  emit 1\nendfunc',
      "'Send' differs from the procedure 'send'",
    ],
    ['what is built in', 'func len(needs x) means\n  return 1\nendfunc', '`len` is a reserved word'],
    ['a tool', 'func tool.t.Send(needs to) means\n  emit 1\nendfunc', 'zz.ns:1:6'],
    ['the program itself', 'command\n  emit tool.t.Send("evil")\nendcommand', 'a library holds definitions'],
  ])('a file that redefines %s is refused before anything runs', async (_, text, problem) => {
    const cwd = folder({ ...LIBRARY, 'lib/zz.ns': `${text}\n` });
    const ran = await within(['loop', '--config', 'night.yaml', '--store', 'none'], { cwd });
    expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(problem) });
  });

  it('a procedure made of a program that calls the library has what it calls in its test', async () => {
    const cwd = folder({ ...LIBRARY, 'agent.txt': reply(command('call send(userdata.fields.to)', done)) });
    const run = (...args: readonly string[]) => within(args, { cwd });
    await run('keys', 'generate', 'keys.json');
    const store = ['--store', 'jobs.db', '--keys', 'keys.json', '--tools', 'tools.yaml'];
    await run('loop', '--config', 'night.yaml', ...store, '--userdata', 'job.json', '--sid', 's', '--approve', 'plan');
    await run('sessions', 'complete', 's', 'plan', 'true', ...store);
    await run('sessions', 'resume', 's', '--config', 'night.yaml', ...store, '--approve', 'plan');
    const promoted = await run(
      'sessions',
      'promote',
      's:1',
      'again',
      '--library',
      'lib',
      '--store',
      'jobs.db',
      '--tools',
      'tools.yaml',
    );
    expect(promoted).toMatchObject({ code: 0 });
    expect(readFileSync(join(cwd, 'lib/again.test.ns'), 'utf8')).toContain('#: file again.ns\n#: file send.ns\n');
    expect(await run('test', 'lib/again.test.ns', '--tools', 'lib/again.mocks.yaml')).toMatchObject({ code: 0 });
  });
});
