// @module-tag slow
import { expect, it } from 'vitest';
import { killOnExit } from '../../src/sandbox/kill.ts';

it('one listener kills all children when the host exits; it stays until the last child is gone', () => {
  const before = process.listeners('exit');
  const killed: string[] = [];
  const release = ['a', 'b'].map((name) => killOnExit(() => void killed.push(name)));
  const own = process.listeners('exit').filter((listener) => !before.includes(listener));
  expect(own).toHaveLength(1);
  release[0]?.();
  expect(process.listeners('exit')).toContain(own[0]);
  own[0]?.(0);
  expect(killed).toEqual(['b']);
  release[1]?.();
  expect(process.listeners('exit')).toEqual(before);
});
