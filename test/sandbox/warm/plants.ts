/** Interpreters that carry something from one run to the next. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleGuest } from '../../../scripts/guest.ts';
import type { WorkerFiles } from '../../../src/sandbox/index.ts';
import { ROOT } from '../../architecture/source.ts';
import { REAL } from '../input.ts';

/** A text of a source, which occurs once, and the text in its place. */
type Change = readonly [text: string, planted: string];

export const PLANTS: Readonly<Record<string, { readonly file: string; readonly changes: readonly Change[] }>> = {
  'a cache of patterns that forgets its run': {
    file: 'src/guest/pure/regex.ts',
    changes: [
      ['const cache = new WeakMap<Meter, Map<string, Program>>();', 'let shared: Map<string, Program> | undefined;'],
      ['  let programs = cache.get(meter);', '  let programs = shared;'],
      ['    cache.set(meter, programs);', '    shared = programs;'],
    ],
  },
  'an empty list that all programs share, and that is open': {
    file: 'src/guest/measure.ts',
    changes: [
      ['export function newList(', 'const EMPTY = measuredList([], 0);\nexport function newList('],
      [
        '  meter.checkItems(items.length);\n  const list = measuredList(items, held);',
        '  meter.checkItems(items.length);\n  const list = items.length === 0 ? EMPTY : measuredList(items, held);',
      ],
    ],
  },
  'a loop that was left, and whose label stays set': {
    file: 'src/guest/loops.ts',
    changes: [
      ['function pass(', 'const left = { label: false };\nfunction pass('],
      [
        '  return body(frame);',
        '  const skips = left.label;\n  left.label = false;\n  const ended = skips ? CONTINUE : body(frame);\n  left.label = ended === BREAK;\n  return ended;',
      ],
    ],
  },
};

/** The worker with the interpreter of a plant, until `use` ends. */
export async function withPlant<Result>(name: string, use: (files: WorkerFiles) => Promise<Result>): Promise<Result> {
  const plant = PLANTS[name];
  if (plant === undefined) throw new Error(`there is no plant '${name}'`);
  const folder = mkdtempSync(join(tmpdir(), 'planted-'));
  try {
    const guest = join(folder, 'guest.js');
    const plugin = { name: 'plant', load: (id: string) => (id === join(ROOT, plant.file) ? planted(id, plant.changes) : null) };
    writeFileSync(guest, await bundleGuest([plugin]));
    return await use({ worker: REAL.worker, guest });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function planted(path: string, changes: readonly Change[]): string {
  return changes.reduce(
    (text, [from, to]) => {
      const parts = text.split(from);
      if (parts.length !== 2) throw new Error(`${path} has this ${parts.length - 1} times: ${from}`);
      return parts.join(to);
    },
    readFileSync(path, 'utf8'),
  );
}
