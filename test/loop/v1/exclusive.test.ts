import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_PROGRESS_YET, ReplayCache } from '../../../src/aeiou/index.ts';
import { fixedClock } from '../../../src/loop/clock.ts';
import { seededIds } from '../../../src/loop/ids.ts';
import { runtimeExecutor } from '../../../src/loop/turn/executor.ts';
import { readReply } from '../../../src/loop/turn/input.ts';
import { runTurn } from '../../../src/loop/turn/turn.ts';
import { newKeyring, reply } from '../../aeiou/kit.ts';
import { command, Stage } from './bench.ts';

const clock = fixedClock(1_725_012_345);
const keyring = newKeyring('v1', clock);

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(() => stage.runtime.close());

/** One turn of the v3 loop. */
async function turnOfV3(actions: string) {
  const executor = runtimeExecutor(stage.runtime);
  const sections = { userdata: '{"subject":"s","fields":{}}', output: null, scratchpad: null };
  const replay = new ReplayCache({ clock });
  const { record } = await runTurn(
    { executor, keyring, clock, ids: seededIds('v1'), replay },
    { sid: 's', turn: 1, input: readReply(sections, reply(actions)), progress: NO_PROGRESS_YET },
  );
  return record;
}

const SIGNALS = [
  `emit '{"loop":"continue"}'`,
  'emit "[[loop:continue]]"',
  'emit "[[loop:abort:reason=x]]"',
  'emit "[[loop:done]]"',
];

describe('two profiles, one at a time (AMB-42)', () => {
  it('A3-1.2-2: JSON control and markers of v1 are inert text in v3', async () => {
    const silent = await turnOfV3(command(...SIGNALS));
    expect(silent).toMatchObject({ decision: 'HALT', reason: 'ERR_TOKEN_MISSING', candidates: [] });
    const done = await turnOfV3(command(...SIGNALS, 'emit tool.aeiou.magic("LOOP", {"action": "done"})'));
    expect(done).toMatchObject({ decision: 'DONE', reason: null });
    expect(done.output).toContain('[[loop:abort:reason=x]]\n');
  });

  it('AL1-1-1: a token of v3, genuine or not, is inert text in v1, and there is no tool that mints one', async () => {
    const { output } = await turnOfV3(command('emit tool.aeiou.magic("LOOP", {"action": "continue"})'));
    const token = output.trimEnd();
    expect(token).toMatch(/^<<<NSMAG:V3:LOOP:/);
    const { result } = await stage.play([command(`emit "${token}"`)]);
    expect(result).toMatchObject({ decision: 'DONE', cause: 'no-signal', output: token });
    const also = await stage.play([command('emit "[[loop:done]]"', `emit "${token}"`)]);
    expect(also.result.cause).toBe('done');
    const minting = await stage.play([command('emit tool.aeiou.magic("LOOP", {"action": "continue"})')]);
    expect(minting.result).toMatchObject({ decision: 'HALT', reason: 'execute-error' });
  });

  it('AL1-0-1: a v3 envelope carries a program as well as an AEIOU v1 one; what it emits decides by v1 rules', async () => {
    const { result } = await stage.play([
      reply(command('emit "[[loop:continue]]"')),
      reply(command('emit "[[loop:abort:reason=r]]"')),
    ]);
    expect(result).toMatchObject({ decision: 'ABORT', reason: 'r', turns: { length: 2 } });
  });
});

describe('a marker is text, so it needs quotes (AMB-47)', () => {
  it('P11: emit [[loop:continue]] is a syntax error whose hint says to quote', async () => {
    const source = { name: 'ACTIONS', text: command('emit [[loop:continue]]') };
    const { diagnostics } = await stage.runtime.check([source]);
    expect(diagnostics).toMatchObject([{ line: 2, hint: expect.stringMatching(/put text in quotes/) }]);
    const { result } = await stage.play([source.text]);
    expect(result.output).toBe('[[invalid:ACTIONS:parse_error]]\n[[loop:halt:reason=execute-error]]');
  });

  it('P11: quoted it is the marker; in a file with double-bracket strings the brackets are the quotes, and none is emitted', async () => {
    const quoted = await stage.play([command('emit "[[loop:abort]]"')]);
    expect(quoted.result).toMatchObject({ decision: 'ABORT', output: '[[loop:abort]]' });
    const brackets = await stage.play([`:: strings: double-bracket\n\n${command('emit [[loop:abort]]')}`]);
    expect(brackets.result).toMatchObject({ decision: 'DONE', cause: 'no-signal', output: 'loop:abort' });
  });
});
