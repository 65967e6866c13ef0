import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { LOCKDOWN } from '../../src/worker/lockdown.ts';

/** Whose methods the interpreter calls. */
const OWNERS = ['String', 'Number', 'Array', 'Map', 'Set', 'RegExp', 'Object', 'BigInt'].map((name) => `${name}.prototype`);

it('a locked realm calls methods as fast as another: V8 keeps no intrinsic as a dictionary (issue 21, 6)', () => {
  const owners = ['Math', 'JSON', 'Reflect', 'Object', 'Error', ...OWNERS];
  const script = `{
    const { log: say } = console;
    const { exit } = process;
    const owners = [${owners.join()}];
    ${LOCKDOWN};
    say(owners.map((owner) => %HasFastProperties(owner)).join());
    exit();
  }`;
  const { stdout } = spawnSync(process.execPath, ['--allow-natives-syntax', '-e', script], { encoding: 'utf8' });
  expect(stdout.trim().split(',')).toEqual(owners.map(() => 'true'));
});
