// @module-tag slow
import { beforeAll, describe, expect, it } from 'vitest';
import {
  composeEnvelope,
  extractEnvelope,
  MARKERS,
  normalizeStream,
  parseEnvelope,
  parseStrict,
  progressDigest,
  scanOutput,
  selectDecision,
  validateUserdata,
} from '../../src/aeiou/index.ts';
import { cpuMs } from '../cost.ts';
import { goldenTurn, TOKENS } from './kit.ts';

/**
 * Half a megabyte takes a few milliseconds. The bound only tells linear from quadratic time, even on a
 * busy machine: a quadratic pass over these inputs takes many seconds.
 */
const BOUND_MS = 500;
const SIZE = 512 * 1024;
const fill = (unit: string): string => unit.repeat(Math.ceil(SIZE / unit.length)).slice(0, SIZE);

const FLOODS: readonly (readonly [string, string])[] = [
  ['line feeds', fill('\n')],
  ['short lines', fill('x\n')],
  ['one long line', fill('x')],
  ['opening brackets', fill('<')],
  ['closing brackets', fill('>')],
  ['brackets on lines', fill('<<<\n')],
  ['half markers', fill('<<<NSENV:')],
  ['half markers on lines', fill('<<<NSENV:\n')],
  ['markers on one line', fill(MARKERS.END)],
  ['markers behind a space', fill(` ${MARKERS.END}\n`)],
  ['look-alikes with a wide letter', fill('<<<NSENV:V3:\u0410CTIONS>>>\n')],
  ['section markers', fill(`${MARKERS.ACTIONS}\n`)],
  ['START markers', fill(`${MARKERS.START}\n`)],
  ['byte order marks', fill('\ufeff')],
  ['byte order marks on lines', fill('\ufeff\n')],
  ['token starts', fill('<<<NSMAG:V3:')],
  ['token starts on lines', fill('<<<NSMAG:V3:\n')],
  ['unfinished tokens', fill(`<<<NSMAG:V3:LOOP:${'A'.repeat(990)}\n`)],
  ['dots', fill(`<<<NSMAG:V3:LOOP:${'A.'.repeat(490)}>>>\n`)],
  ['blanks', fill(' ')],
  ['blanks and a letter on every line', fill(`${' '.repeat(5000)}x\n`)],
  ['carriage returns', fill('\r')],
  ['quotes', fill('"')],
  ['backslashes', fill('\\')],
  ['opening braces', fill('{')],
  ['names', fill('{"a":')],
  ['digits', fill('9')],
];

/** CPU time of some work, in milliseconds. Below the bound the first measurement says enough. */
function took(work: () => unknown): number {
  return cpuMs(
    () => {
      try {
        work();
      } catch {
        // Only the time counts; the reader may refuse the input.
      }
    },
    3,
    BOUND_MS,
  );
}

describe('linear time', () => {
  const encoder = new TextEncoder();

  beforeAll(() => {
    for (const [, flood] of FLOODS.slice(0, 5)) scanOutput(flood);
  });

  it.each(FLOODS)('half a megabyte of %s is answered at once by every reader (threats 36, 37)', (_, flood) => {
    const body = flood.slice(0, SIZE - 200);
    const inside = encoder.encode(`${MARKERS.START}\n${MARKERS.USERDATA}\n${body}\n${MARKERS.ACTIONS}\nx\n${MARKERS.END}`);
    const output = encoder.encode(
      `${MARKERS.START}\n${MARKERS.USERDATA}\n{}\n${MARKERS.OUTPUT}\n${body}\n${MARKERS.ACTIONS}\nx\n${MARKERS.END}`,
    );
    const turn = goldenTurn();
    const slow = Object.entries({
      parse: () => parseEnvelope(inside),
      parseOutput: () => parseEnvelope(output),
      parseRaw: () => parseEnvelope(encoder.encode(flood)),
      extract: () => extractEnvelope(flood),
      compose: () => composeEnvelope({ userdata: body, scratchpad: body, actions: '' }),
      scan: () => scanOutput(flood),
      select: () => selectDecision(flood, turn),
      normalize: () => normalizeStream(flood),
      digest: () => progressDigest(flood, flood),
      userdata: () => validateUserdata(flood),
      json: () => parseStrict(`"${flood}`, { numbers: 'doubles', padding: true }),
    })
      .map(([name, work]) => ({ name, ms: took(work) }))
      .filter(({ ms }) => ms > BOUND_MS);
    expect(slow).toEqual([]);
  });

  it('text after a token in half a megabyte of lines is found at once', () => {
    const output = `${TOKENS.T1}\n${fill(' \n')}x`;
    expect(took(() => selectDecision(output, goldenTurn()))).toBeLessThan(BOUND_MS);
    expect(selectDecision(output, goldenTurn()).lints).toEqual([{ code: 'LINT_POST_TOKEN_TEXT', line: 262_146 }]);
  });
});
