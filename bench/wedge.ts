import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageFiles, Sandbox } from '../src/sandbox/index.ts';
import { defaultLimits } from '../src/wire/limits.ts';
import { EMPTY_RUN } from '../src/wire/protocol.ts';
import { RawProcess } from './rawprocess.ts';

/**
 * Replaces the interpreter as if it had a hole: raw JavaScript that keeps V8 busy for minutes. It answers the program with which the
 * worker warms up.
 */
const WEDGE = `var guest = { boot: () => (input) => {
  if (JSON.parse(input).globals.wedge === true) new Array(2 ** 31).fill(0);
  return JSON.stringify({ ok: true, phase: 'exec', result: null, eventErrors: [], error: null,
    fuel: 0, peakMemoryBytes: 0, toolCalls: 0, outputBytes: 0 });
} };`;

const WALL_MS = 200;

/** A worker stuck in native code, where neither the meter nor V8 can stop it. */
export interface WedgeRow {
  readonly setMs: number;
  /** Elapsed milliseconds from the start of the program to the death of its worker. */
  readonly killedMs: number;
  /** The same of a raw isolate in a process, killed by a timer right before. */
  readonly bareMs: number;
  readonly typed: boolean;
}

/** Wedges workers repeatedly. The host kills each at its wall-clock limit. */
export async function benchWedge(runs: number, onRow: () => void): Promise<WedgeRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'wedge-'));
  const guest = join(folder, 'guest.js');
  writeFileSync(guest, WEDGE);
  try {
    await using sandbox = await Sandbox.create({ concurrency: 1, files: { ...packageFiles(), guest } });
    const rows: WedgeRow[] = [];
    for (let run = 0; run < runs; run++) {
      rows.push(await wedge(sandbox));
      onRow();
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function wedge(sandbox: Sandbox): Promise<WedgeRow> {
  const raw = await RawProcess.open();
  await raw.run('1');
  const bareMs = await raw.killAfter(WALL_MS);
  let started = 0;
  const limits = { ...defaultLimits('run'), wallMs: WALL_MS, cpuMs: 60_000, memoryBytes: 1024 ** 3 };
  const { result } = await sandbox.run(
    { ...EMPTY_RUN, globals: { wedge: true }, limits },
    {
      onStarted: () => {
        started = performance.now();
      },
      onOut() {},
      onCall: async () => ({ t: 'ok', value: null }),
    },
  );
  const { error } = result;
  const typed = error?.code === 'ERR_TIMEOUT' && error.limit === 'wallMs';
  return { setMs: WALL_MS, killedMs: performance.now() - started, bareMs, typed };
}
