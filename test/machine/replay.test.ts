// @module-tag slow
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { createRuntime } from '../../src/runtime/index.ts';
import { tempFolder } from '../folder.ts';
import { openWild } from '../loop/replay/random.ts';
import { recordSession } from '../loop/replay/sessions.ts';
import { type OtherNode, otherNode } from './node.ts';

/** How many sessions; the whole thousand with NEUROSCRIPT_REPLAY=1000. */
const SESSIONS = Number(process.env['NEUROSCRIPT_REPLAY'] ?? 200);

let node: OtherNode;
const folder = tempFolder();
beforeAll(async () => {
  node = await otherNode([24]);
});

it(`A3-2-7: ${SESSIONS} sessions recorded by this Node are the same, byte for byte, on the oldest supported line`, async () => {
  const file = join(folder, 'sessions.json');
  {
    await using recording = await openWild(createRuntime);
    const sessions: unknown[] = [];
    for (let seed = 0; seed < SESSIONS; seed += 1) sessions.push(await recordSession(recording, seed));
    writeFileSync(file, JSON.stringify(sessions));
  }
  const child = fileURLToPath(new URL('replaychild.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(node.binary, [child, file], { encoding: 'utf8' });
  expect({ status, stderr: stderr.replace(/^.*(ExperimentalWarning|Use `node --trace).*\n/gm, '') }).toEqual({
    status: 0,
    stderr: '',
  });
  const { counts, ...rest } = JSON.parse(stdout);
  expect(rest).toEqual({ node: node.version });
  const { same, 'killed prefix': killed = 0, ...others } = counts;
  expect(others).toEqual({});
  expect(same).toBeGreaterThan(SESSIONS);
  expect(killed).toBeLessThan(same / 20);
}, 1_200_000);
