// @module-tag slow
import { beforeAll, expect, it } from 'vitest';
import { sealRecord } from '../../src/loop/record/seal.ts';
import { CallJournal } from '../../src/tools/dispatch/journal.ts';
import { packedSize } from '../../src/tools/dispatch/packed.ts';
import type { JournalEntry } from '../../src/wire/journal.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import type { GuestCall } from '../../src/wire/protocol.ts';
import { variables } from '../tools/probe.ts';
import { bench, turnOf } from './harness.ts';

/** The host may compute for this multiple of the calibration loop on the record of one turn: as long as on one frame (`framevalues.test.ts`). */
const MULTIPLE = 40;

function cpuMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** CPU time of a loop of 20 million steps. */
function calibration(): number {
  return cpuMs(() => {
    let sum = 0;
    for (let step = 0; step < 2e7; step++) sum = (sum * 31 + step) | 0;
    expect(sum).not.toBe(1);
  });
}

let allowed: number;
beforeAll(() => {
  allowed = Math.min(calibration(), calibration()) * MULTIPLE;
});

it.each([
  ['numbers', '0'],
  ['empty maps', '{}'],
  ['texts', `"${'x'.repeat(1000)}"`],
])(
  'issue 18: the record of a turn whose journal is full of %s is sealed and written within a multiple of a calibration loop',
  async (_what, item) => {
    const args = [JSON.parse(`[${Array.from({ length: Math.floor(2 ** 20 / (item.length + 1)) }, () => item).join(',')}]`)];
    const entries: JournalEntry[] = [];
    const journal = new CallJournal((entry) => entries.push(entry));
    const at = { fork: 'f', source: 's', line: 1, column: 1 };
    // The calls differ in their number alone.
    const numberless: GuestCall = { t: 'tool', seq: 0, name: 'tool.t.x', args, at };
    const [before, after] = JSON.stringify(numberless).split('"seq":0');
    for (let bytes = 0, seq = 1; bytes < defaultLimits('run').journalBytes; seq++) {
      const call: GuestCall = { ...numberless, seq };
      journal.open(call, variables());
      bytes += packedSize(journal.pack(call, `${before}"seq":${seq}${after}`));
      journal.close(call, { t: 'ok', value: null });
    }
    const { record } = await turnOf(bench({ silent: () => {} }), 'silent');
    const { seal: _seal, ...rest } = record;
    const full = { ...rest, journal: entries };
    expect(cpuMs(() => JSON.stringify(sealRecord(full, null)))).toBeLessThan(allowed);
  },
);
