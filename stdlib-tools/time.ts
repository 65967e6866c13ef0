import { setTimeout as sleep } from 'node:timers/promises';
import { defineStandard, type ToolDefinition, ToolError } from '../src/tools/index.ts';
import { NS_CODES } from '../src/wire/codes.ts';
import { ConfigError } from '../src/wire/errors.ts';
import { anything, checker } from '../src/wire/options.ts';
import { TimeDate, ValueError } from '../src/wire/values.ts';

/** Options of {@link timeTools}. */
export interface TimeToolsOptions {
  /** Maximum sleep in seconds; 60 if absent. The limits of the run apply as well. */
  readonly maxSleepSeconds?: number;
}

const checkTimeOptions = checker<TimeToolsOptions>({ maxSleepSeconds: anything });
const MAX_SLEEP_SECONDS = 60;

/**
 * `tool.time`: the clock of the turn, and arithmetic on points in time. The journal records the time as the result of the call, so a
 * replay sees the same time. Throws {@link ConfigError} (`ERR_CONFIG`).
 */
export function timeTools(options: TimeToolsOptions = {}): readonly ToolDefinition[] {
  checkTimeOptions('the options of the time tools', options);
  const longest = options.maxSleepSeconds ?? MAX_SLEEP_SECONDS;
  if (!Number.isFinite(longest) || longest <= 0)
    throw new ConfigError(`maxSleepSeconds must be a number above 0, got ${String(longest)}`);
  return [
    defineStandard({
      name: 'tool.time.Now',
      description: 'Returns the current time.',
      example: 'tool.time.Now()',
      returns: 'timedate',
      effects: 'read',
      run: (_, { turn }) => TimeDate.from(new Date(turn.now())),
    }),
    defineStandard({
      name: 'tool.time.Sleep',
      description: `Waits for up to ${longest} seconds. The wait counts towards the time limit of the run.`,
      example: 'tool.time.Sleep(0.01)',
      args: [{ name: 'duration_seconds', type: 'number', description: `seconds to wait, 0 to ${longest}; fractions count` }],
      returns: 'bool',
      effects: 'read',
      async run({ duration_seconds: seconds }, { signal }) {
        if (!(seconds >= 0 && seconds <= longest))
          throw new ToolError(NS_CODES.ArgMismatch, `duration_seconds must be from 0 to ${longest}, got ${seconds}`);
        await sleep(seconds * 1000, undefined, { signal });
        return true;
      },
    }),
    defineStandard({
      name: 'tool.time.Parse',
      description: 'Parses an RFC 3339 string, or a date, as a point in time.',
      example: 'tool.time.Parse("2025-10-15T08:00:00Z")',
      args: [
        {
          name: 'text',
          type: 'string',
          description:
            'such as 2025-10-15T08:00:00Z, with Z or an offset such as +02:00; 2025-10-15 alone is its midnight in UTC',
        },
      ],
      returns: 'timedate',
      effects: 'none',
      run({ text }) {
        try {
          return TimeDate.parse(text.trim());
        } catch (error) {
          if (!(error instanceof ValueError)) throw error;
          throw new ToolError(NS_CODES.InvalidValue, error.message);
        }
      },
    }),
    defineStandard({
      name: 'tool.time.Unix',
      description: 'Converts a point in time to seconds since 1970-01-01T00:00:00Z, to the millisecond.',
      example: 'tool.time.Unix(tool.time.Parse("2025-10-15T08:00:00.25Z"))',
      args: [{ name: 'time', type: 'timedate', description: 'the point in time, or its RFC 3339 string' }],
      returns: 'number',
      effects: 'none',
      run: ({ time }) => time.toDate().getTime() / 1000,
    }),
    defineStandard({
      name: 'tool.time.FromUnix',
      description: 'Converts seconds since 1970-01-01T00:00:00Z to a point in time, to the millisecond.',
      example: 'tool.time.FromUnix(1760515200)',
      args: [{ name: 'seconds', type: 'number', description: 'seconds since 1970-01-01T00:00:00Z; fractions count' }],
      returns: 'timedate',
      effects: 'none',
      run: ({ seconds }) => timeAt(seconds * 1000),
    }),
    defineStandard({
      name: 'tool.time.Add',
      description: 'Adds seconds to a point in time.',
      example: 'tool.time.Add(tool.time.Parse("2025-10-15T08:00:00Z"), 90)',
      args: [
        { name: 'time', type: 'timedate', description: 'the point in time, or its RFC 3339 string' },
        { name: 'seconds', type: 'number', description: 'the seconds to add; fractions count, negative goes back' },
      ],
      returns: 'timedate',
      effects: 'none',
      run: ({ time, seconds }) => timeAt(time.toDate().getTime() + seconds * 1000),
    }),
  ];
}

function timeAt(millis: number): TimeDate {
  try {
    return TimeDate.from(new Date(Math.round(millis)));
  } catch {
    throw new ToolError(NS_CODES.InvalidValue, 'that point in time is out of range: the years go from 0 to 9999');
  }
}
