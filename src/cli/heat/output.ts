import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import type { Probe, RunProfile } from '../../wire/heat.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { Source } from '../../wire/protocol.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { checkOutput, PAGES, replaceFile } from '../terminal/write.ts';
import { chromeTrace } from './chrome.ts';
import { heatPage } from './page.ts';
import { speedscopeFile } from './speedscope.ts';

const FORMATS = ['chrome', 'speedscope'] as const;

export interface HeatFlags {
  readonly traceOut?: string;
  readonly traceFormat?: (typeof FORMATS)[number];
  readonly heat?: string;
}

/** Adds the flags of measured runs. */
export function addHeat(command: Command): Command {
  return command
    .option('--trace-out <FILE>', 'write a trace of statements, calls and tools, with time and fuel, to a .json file')
    .addOption(
      new Option(
        '--trace-format <FORMAT>',
        'the format of --trace-out (default: by the name, speedscope for *.speedscope.json)',
      ).choices(FORMATS),
    )
    .option('--heat <FILE>', 'write fuel and time by line and procedure, with a flame graph, to an .html file');
}

/** What a measured run has done, for its files. */
export interface Measurement {
  readonly profile: RunProfile;
  readonly journal: readonly JournalEntry[];
  readonly sources: readonly Source[];
  /** Names the run: its files, or session and turn. */
  readonly title: string;
}

/** Checks the flags before anything runs. Null without any. Throws {@link UsageError}. */
export function probeOf({ traceOut, traceFormat, heat }: HeatFlags): Probe | null {
  if (traceFormat !== undefined && traceOut === undefined) throw new UsageError('--trace-format needs --trace-out');
  if (traceOut !== undefined) checkOutput('--trace-out', traceOut, ['.json']);
  if (heat !== undefined) checkOutput('--heat', heat, PAGES);
  if (traceOut === undefined && heat === undefined) return null;
  return { trace: traceOut !== undefined };
}

/** Writes the files that the flags name, and what they lack to standard error. */
export async function writeHeat(
  { traceOut, traceFormat, heat: page }: HeatFlags,
  { profile, journal, sources, title }: Measurement,
  { err }: Terminal,
): Promise<void> {
  if (traceOut !== undefined) {
    const byName = traceOut.toLowerCase().endsWith('.speedscope.json') ? 'speedscope' : 'chrome';
    const isSpeedscope = (traceFormat ?? byName) === 'speedscope';
    await replaceFile(traceOut, isSpeedscope ? speedscopeFile(profile, basename(title)) : chromeTrace(profile, journal));
  }
  if (page !== undefined) await replaceFile(page, heatPage(profile.heat, sources, title));
  for (const notice of profile.heat.notices) err.prose(`neuroscript: ${notice}`);
}
