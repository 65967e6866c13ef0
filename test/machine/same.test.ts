// @module-tag slow
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { type OtherNode, otherNode } from './node.ts';

const script = fileURLToPath(new URL('../conformance/digest.ts', import.meta.url));
const digests = (node: string): string[] => {
  const { status, stdout, stderr } = spawnSync(node, ['--stack-size=3900', '--disable-warning=ExperimentalWarning', script], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${node} ended with ${status}: ${stderr.slice(0, 2000)}`);
  return stdout.split('\n');
};

describe('the oldest and the newest supported Node line', () => {
  let node: OtherNode;
  beforeAll(async () => {
    node = await otherNode([24]);
  });

  it('run every program of the suite and 300 random ones to the same output, error, fuel and memory', () => {
    const here = digests(process.execPath);
    expect(here.length).toBeGreaterThan(800);
    expect(digests(node.binary)).toEqual(here);
  });
});
