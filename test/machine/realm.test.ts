// @module-tag slow
import { beforeAll, describe, expect, it } from 'vitest';
import { type Harm, probed, probedBy, SIGNALS } from '../worker/realm.ts';
import { type OtherNode, otherNode } from './node.ts';

const HARMLESS = { worked: [], victimLives: true, fileUntouched: true, left: [], heard: 0 } satisfies Harm;

describe("hostile code in the worker's own realm, in the operating system sandbox", () => {
  it('does nothing at all on this Node', async () => {
    expect(await probed(true)).toEqual(HARMLESS);
  });

  it('finds no descriptor that the host was started with', async () => {
    expect(await probedBy(process.execPath, true)).toEqual(HARMLESS);
  });
});

describe('on the oldest supported Node line', () => {
  let node: OtherNode;
  beforeAll(async () => {
    node = await otherNode([24]);
  });

  it('does nothing at all in the operating system sandbox', async () => {
    expect(await probedBy(node.binary, true)).toEqual(HARMLESS);
  });

  it('without the operating system sandbox it may signal, read the files it loads from and use the network, as SECURITY.md says', async () => {
    const { worked, fileUntouched, left } = await probedBy(node.binary, false);
    // A socket with a name in the file system is a file, too.
    expect({ fileUntouched, left: left.filter((name) => name !== 'victim.sock') }).toEqual({ fileUntouched: true, left: [] });
    const network = [
      'connect by TCP',
      'connect by fetch',
      'connect by HTTP',
      'listen by TCP',
      'listen by UDP',
      'send by UDP',
      'listen by a path',
      'ask a name server',
      'look a name up',
    ];
    const kept = ['read its own code', 'load native code', 'use a debugging session'];
    expect(worked.filter((deed) => ![...SIGNALS, ...network, ...kept].includes(deed))).toEqual([]);
    expect(worked).toEqual(expect.arrayContaining(SIGNALS));
  });
});
