import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { command, folder } from './spawn.ts';
import { within } from './terminal.ts';

const V1 = ['loop', '--profile', 'v1'];
const play = (tools: string, ...flags: readonly string[]) =>
  within([...V1, '--agent', 'script:examples/plan-apply-v1/agent.txt', '--tools', `examples/${tools}.yaml`, ...flags], {
    cwd: ROOT,
  });

/** A folder with one transcript of these programs. */
function transcript(...programs: readonly string[]): { readonly cwd: string } {
  const replies = programs.map((program) => `<<<NSENVELOPE_MAGIC::ACTIONS::v1>>>\n${program}`);
  return { cwd: folder({ 'a.txt': replies.join('---\n') }) };
}

describe('loop --profile v1', () => {
  it.each([
    ['AL1-4-1', 'plan-apply/tools', 0, 'DONE', 'done', 2],
    ['AL1-4-2', 'plan-apply/tools-no-capability', 0, 'DONE', 'done', 1],
    ['AL1-4-3', 'plan-apply/tools-refused', 0, 'DONE', 'done', 2],
    ['AL1-4-4', 'plan-apply/tools-conflict', 0, 'DONE', 'done', 3],
    ['AL1-4-4', 'plan-apply-v1/tools-contested', 11, 'HALT', 'host', 3],
  ])('%s: the example with %s.yaml', async (_, tools, code, decision, cause, turns) => {
    const ended = await play(tools, '--json', '--sid', 'demo');
    expect(ended).toMatchObject({ code, stderr: '' });
    expect(JSON.parse(ended.stdout)).toMatchObject({ profile: 'v1', loopId: 'demo', decision, cause, turns: { length: turns } });
  });

  it('shows turn after turn and the end', async () => {
    const { code, stdout } = await play('plan-apply/tools', '--sid', 'demo');
    expect(code).toBe(0);
    expect(stdout).toContain('Turn 2 of loop demo\n');
    expect(stdout).toContain('Loop demo: DONE after 2 turns\n');
  });

  it('AL1-2.4-1: --profile v1-once takes the permission to loop', async () => {
    const ended = await play('plan-apply/tools', '--profile', 'v1-once', '--json');
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ cause: 'not-permitted', turns: { length: 1 } });
  });

  it.each([
    ['an abort', command('emit "[[loop:abort:reason=no]]"'), [], 10],
    ['a halt marker', command('emit "[[loop:halt:reason=no]]"'), [], 11],
    ['a program that fails', command('fail "x"'), [], 11],
    ['the ceiling of turns', command(`emit '{"loop":"continue"}'`), ['--max-turns', '1'], 11],
    ['fuel', command('while true', 'set x = 1', 'endwhile'), ['--fuel', '10000'], 5],
    ['time', command('while true', 'set x = 1', 'endwhile'), ['--wall', '100ms'], 124],
    ['too large a ceiling', command('emit 1'), ['--max-turns', '26'], 2],
    ['flags of v3', command('emit 1'), ['--log', 'l.jsonl'], 2],
  ])('%s has its exit code', async (_, program, flags, code) => {
    const ended = await within([...V1, '--agent', 'script:a.txt', '--json', ...flags], transcript(program));
    expect(ended.code, ended.stderr).toBe(code);
  });

  it('a profile that does not exist is refused', async () => {
    const { cwd } = transcript(command('emit 1'));
    expect((await within(['loop', '--profile', 'v2', '--agent', 'script:a.txt'], { cwd })).code).toBe(2);
  });
});
