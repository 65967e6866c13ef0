import { describe, expect, it } from 'vitest';
import { timeTools } from '../../stdlib-tools/index.ts';
import { SLOW } from '../groups.ts';
import { emitted, values } from './call.ts';

const EPOCH = 1_760_515_200_250;

describe('tool.time', () => {
  it('Now is the clock of the turn, as a timedate, and stands in the journal', async () => {
    const [result] = await emitted(timeTools(), ['tool.time.Now()', 'typeof(tool.time.Now())'], { clock: () => EPOCH });
    expect(result?.values).toEqual([{ $time: '2025-10-15T08:00:00.25Z' }, 'timedate']);
    expect(result?.journal.map((entry) => entry.kind === 'tool' && entry.outcome)).toEqual([
      { ok: true, value: { $time: '2025-10-15T08:00:00.25Z' } },
      { ok: true, value: { $time: '2025-10-15T08:00:00.25Z' } },
    ]);
  });

  it('parses, shifts and compares points in time', async () => {
    expect(
      await values(
        timeTools(),
        'tool.time.Unix(tool.time.Parse("2025-10-15T08:00:00.25Z"))',
        'tool.time.Unix(tool.time.Parse(" 2025-10-15T10:00:00+02:00 "))',
        '(tool.time.Unix("2026-03-01") - tool.time.Unix(tool.time.Parse("2026-01-15"))) / 86400',
        'tool.time.FromUnix(-0.5)',
        'tool.time.Add(tool.time.Parse("2024-02-28T23:59:59Z"), 1)',
        'tool.time.Add(tool.time.Parse("2024-03-01T00:00:00Z"), -86400)',
      ),
    ).toEqual([
      EPOCH / 1000,
      1_760_515_200,
      45,
      { $time: '1969-12-31T23:59:59.5Z' },
      { $time: '2024-02-29T00:00:00Z' },
      { $time: '2024-02-29T00:00:00Z' },
    ]);
  });

  it.each([
    ['tool.time.Parse("tomorrow")', 'NS41'],
    ['tool.time.Parse("2025-02-29T00:00:00Z")', 'NS41'],
    ['tool.time.Parse(5)', 'NS4'],
    ['tool.time.FromUnix(1e18)', 'NS41'],
    ['tool.time.Add(tool.time.FromUnix(0), -1e15)', 'NS41'],
    ['tool.time.Unix("no time")', 'NS4'],
    ['tool.time.Sleep(-1)', 'NS4'],
    ['tool.time.Sleep(3)', 'NS4'],
    ['tool.time.Now(1)', 'NS4'],
  ])('%s is refused', async (call, code) => {
    expect(await values(timeTools({ maxSleepSeconds: 2 }), call)).toEqual([code]);
  });

  it('Sleep waits, and a time limit of the run ends it', SLOW, async () => {
    const before = performance.now();
    expect(await values(timeTools(), 'tool.time.Sleep(0.05)')).toEqual([true]);
    expect(performance.now() - before).toBeGreaterThanOrEqual(49);
    const [cut] = await emitted(timeTools(), ['tool.time.Sleep(50)'], { limits: { wallMs: 100 } });
    expect(cut?.error?.code).toBe('ERR_TIMEOUT');
  });

  it('refuses options that make no sense', () => {
    for (const options of [{ maxSleepSeconds: 0 }, { maxSleepSeconds: Number.NaN }, JSON.parse('{"maxSleep":1}')])
      expect(() => timeTools(options)).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }));
  });
});
