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
  set ended = true
endfunc
`,
      args: [
        { name: 'given_pages', value: 3 },
        { name: 'given_to', value: 'ada@example.org' },
        { name: 'given_subject', value: 'report' },
      ],
    });
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
  const program = command('set found = tool.t.List(userdata.fields.to)', 'emit tool.t.Send("ada@example.org", found[0])', done);
  const cwd = folder({
    'tools.yaml': `tools:
  tool.t.List: { args: [whose], effects: read, cases: [{ returns: [a, b] }] }
  tool.t.Send: { args: [to, what], otherwise: { returns: sent } }
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
  expect(text('.ns')).toContain('func send(needs given_to) means');
  expect(text('.grant.yaml')).toContain('to is the parameter given_to');
  expect(text('.grant.yaml')).toContain('call: 1');
  expect(await run('test', 'lib/send.test.ns', '--tools', 'lib/send.mocks.yaml')).toMatchObject({ code: 0 });
  expect(await promote('s:1')).toMatchObject({ code: 2, stderr: expect.stringContaining('it exists already') });
  // All files or none.
  writeFileSync(join(cwd, 'lib', 'other.grant.yaml'), '');
  expect(await promote('s:1', 'other')).toMatchObject({ code: 2, stderr: expect.stringContaining('it exists already') });
  expect(readdirSync(join(cwd, 'lib')).filter((file) => file.startsWith('other'))).toEqual(['other.grant.yaml']);
});
