import { describe, expect, it } from 'vitest';
import { HELD_OUT, habitsOf, KNOWN, UNSEEN } from '../../conformance/habits/corpus.ts';
import { withEdits } from '../../grammar/repair/apply.ts';
import { toPublicCheck } from '../../src/wire/findings.ts';
import { checkSources } from '../../src/worker/check.ts';
import { Random } from '../fuzz/random.ts';
import { SLOW } from '../groups.ts';
import { CORPUS } from '../lsp/corpus.ts';
import { ENVIRONMENT } from './harness.ts';

const UNKNOWN = /^LINT_UNKNOWN_(?:PROCEDURE|TOOL)$/;

function check(text: string, denied: readonly string[]) {
  const environment = { ...ENVIRONMENT, denied: denied.map((name) => ({ name, reason: 'denied' })) };
  return toPublicCheck(checkSources([{ name: 'src', text }], 1_000_000, environment)).findings;
}

/** Errors of a text, without those about names that the text before its fixes has, too: a text that does not parse does not show them. */
function errorsOf(text: string, before: string, denied: readonly string[]): number {
  return check(text, denied).filter(({ code, severity, message }) => {
    const [, name = ''] = /`([^`]*)`/.exec(message) ?? [];
    return severity === 'error' && !(UNKNOWN.test(code) && before.includes(name));
  }).length;
}

/** Which of the ways to make the fixes of a text leave more errors than there were. */
function worseWays(text: string, denied: readonly string[] = []): readonly string[] {
  const fixes = check(text, denied).flatMap(({ fix }) => (fix === undefined || fix.edits.length === 0 ? [] : [fix]));
  const before = errorsOf(text, text, denied);
  const ways: readonly (readonly [string, Readonly<typeof fixes>])[] = [
    ['all', fixes],
    ['safe', fixes.filter(({ safe }) => safe)],
    ...fixes.map((fix, index) => [`${index + 1}`, [fix]] as const),
  ];
  return ways.flatMap(([way, some]) => {
    const after = withEdits(
      text,
      some.flatMap(({ edits }) => edits),
    );
    const errors = errorsOf(after, text, denied);
    return errors > before ? [`${way}: ${errors} instead of ${before}`] : [];
  });
}

const SLIPS = [...KNOWN, HELD_OUT, UNSEEN].flatMap((file) =>
  habitsOf(file).map(({ slip, right }, index) => ({ name: `${file} ${index + 1}`, slip, right })),
);

/** Programs with the way in which each was damaged. Names of held-out slips do not show them. */
function damaged(count: number, seed: number): readonly (readonly [name: string, text: string])[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => {
    const { name, slip, right } = random.pick(SLIPS);
    const [kind, text] = random.pick([
      ['slip', slip],
      ['right', right],
      ['suite', random.pick(CORPUS)],
    ] as const);
    const lines = text.split('\n');
    const at = random.int(lines.length);
    const [how, changed] = random.pick([
      ['cut at', lines.slice(0, at).join('\n')],
      ['without', lines.toSpliced(at, 1).join('\n')],
      ['twice', lines.toSpliced(at, 0, lines[at] ?? '').join('\n')],
      ['cut in', [...lines.slice(0, at), (lines[at] ?? '').slice(0, random.int(20))].join('\n')],
      ['mixed at', lines.toSpliced(at, 0, random.pick(slip.split('\n'))).join('\n')],
    ] as const);
    return [`${kind} of ${name}, ${how} line ${at + 1}`, changed];
  });
}

describe('issue 50: no fix leaves a program with more errors than it had, alone, with the safe ones or with all', () => {
  for (const [each, options] of [
    [7, {}],
    [1, SLOW],
  ] as const)
    it(`of one slip of ${each}, known and held out`, options, () => {
      expect(SLIPS.length).toBeGreaterThan(500);
      expect(
        SLIPS.filter((_, index) => index % each === 0).flatMap(({ name, slip }) =>
          worseWays(slip).map((way) => `${name}: ${way}`),
        ),
      ).toEqual([]);
    });

  for (const [count, options] of [
    [100, {}],
    [400, SLOW],
  ] as const)
    it(`of ${count} programs that are cut off, or changed at one place`, options, () => {
      const worse = damaged(count, 50).flatMap(([name, text]) => worseWays(text).map((way) => `${name}: ${way}`));
      expect(worse).toEqual([]);
    });

  it('where the policy denies the tools that fixes call', () => {
    const denied = (ENVIRONMENT.tools ?? []).map(({ name }) => name).filter((name) => /^tool\.(?:str|list|map)\./.test(name));
    const worse = SLIPS.filter((_, index) => index % 5 === 0).flatMap(({ name, slip }) =>
      worseWays(slip, denied).map((way) => `${name}: ${way}`),
    );
    expect(worse).toEqual([]);
  });
});
