import { describe, expect, it } from 'vitest';
import { parse, type SourceFile } from '../../grammar/index.ts';
import type { Step, StepPlace } from '../../src/wire/heat.ts';
import { eventsOf, globalsOf, isMain } from '../conformance/both.ts';
import type { Chunk } from '../conformance/chunks.ts';
import { type Section, sections } from '../conformance/suite.ts';
import { SLOW } from '../groups.ts';
import { type Driven, driveFiles } from './driver.ts';

const MARK = 'a mark of the test';
/** Steps of a program that are compared. */
const STEPS = [2, 3, 5, 9, 20];
/** Fuel of a program that is run a few times more. */
const SMALL = 10_000;

function runOf(section: Section, chunk: Chunk, file: SourceFile, at?: StepPlace): Driven {
  return driveFiles([file], {
    call: isMain(chunk) ? 'main' : null,
    globals: globalsOf(chunk),
    stdin: chunk.stdin,
    events: eventsOf(chunk),
    tools: section.tools().here,
    pure: true,
    probe: at === undefined ? undefined : { at },
  });
}

/** The program with statements before a line that emit a mark and the variables. */
function emitting(source: string, line: number, names: readonly string[]): string {
  const lines = source.split('\n');
  lines.splice(line - 1, 0, `emit ${JSON.stringify(MARK)}`, ...names.map((name) => `emit ${name}`));
  return lines.join('\n');
}

/** What the inserted statements emitted, visit by visit, and everything else. */
function apart(
  emits: readonly string[],
  count: number,
): { readonly visits: readonly (readonly string[])[]; readonly rest: string[] } {
  const visits: string[][] = [];
  const rest: string[] = [];
  for (let index = 0; index < emits.length; index++) {
    const text = emits[index] ?? '';
    if (text !== MARK) rest.push(text);
    else {
      visits.push(emits.slice(index + 1, index + 1 + count));
      index += count;
    }
  }
  return { visits, rest };
}

/** Compares a step with what emits at its place print. Null where an emit would change the program or cannot stand. */
function compared(section: Section, chunk: Chunk, step: Step, plain: Driven): boolean {
  const [top] = step.stack;
  const variables = (top?.variables ?? []).filter(({ name }) => !name.startsWith('system_error'));
  const source = emitting(
    chunk.source,
    step.line,
    variables.map(({ name }) => name),
  );
  const parsed = parse(source, { name: 'test.ns' });
  if (!parsed.ok) return false;
  const { emits, error } = runOf(section, chunk, parsed.file);
  const { visits, rest } = apart(emits, variables.length);
  if (JSON.stringify(rest) !== JSON.stringify(plain.emits) || error?.code !== plain.error?.code) return false;
  const shown = variables.map(({ text, cut }) => ({ text, cut }));
  const wanted = visits[step.visit - 1]?.map((text) => ({ text: text.slice(0, 4000), cut: text.length > 4000 }));
  expect(shown, `${chunk.title}, line ${step.line}, visit ${step.visit}`).toEqual(wanted);
  return true;
}

describe('a step', () => {
  for (const [each, options] of [
    [4, {}],
    [1, SLOW],
  ] as const)
    it(`shows the variables that an emit there would print, in one program of ${each} of the suite`, options, () => {
      let steps = 0;
      for (const section of sections()) {
        for (const [index, chunk] of section.chunks.entries()) {
          if (index % each > 0 || chunk.host || Object.keys(chunk.limits).length > 0) continue;
          const parsed = parse(chunk.source, { name: 'test.ns' });
          if (!parsed.ok) continue;
          const { file } = parsed;
          const plain = runOf(section, chunk, file);
          if (plain.fuel > SMALL) continue;
          for (const number of STEPS) {
            const { profile } = runOf(section, chunk, file, { step: number });
            if (profile === null || profile.step === null) break;
            const { source, line, visit } = profile.step;
            const again = runOf(section, chunk, file, { source, line, visit }).profile;
            expect(again?.step).toEqual(profile.step);
            if (compared(section, chunk, profile.step, plain)) steps++;
          }
        }
      }
      expect(steps).toBeGreaterThan(700 / each);
    });
});
