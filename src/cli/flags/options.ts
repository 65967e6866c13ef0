import { type Command, Option } from 'commander';
import { clip, quantity } from '../../report/index.ts';
import { ISOLATIONS, LAUNCHERS, type RuntimeLimitOptions } from '../../sandbox/index.ts';
import { decode } from '../../wire/codec.ts';
import { LIMITS, type LimitKey, POOL_LIMITS, type PoolKey } from '../../wire/limits.ts';
import { MAX_TIMER_MS } from '../../wire/options.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { ValueError } from '../../wire/values.ts';
import { UsageError } from '../terminal/failure.ts';
import { PLACEHOLDER, parseQuantity } from './units.ts';

const LIMIT_GROUP = 'Limits (always on; a turn or request can only tighten them):';

/** The flag that chooses the launcher of workers. */
export function launcherOption(): Option {
  const help =
    "the operating system sandbox for workers: the best that works, a complete one, this one or none (auto; see 'doctor')";
  return new Option('--launcher <WHEN>', help).choices(LAUNCHERS).helpGroup(LIMIT_GROUP);
}

/** The flag that says how runs share isolates and processes. */
function isolationOption(): Option {
  const help = 'what a run has for itself: a process, a fresh isolate, or one that its tenant has had before (run)';
  return new Option('--isolation <KIND>', help).choices(ISOLATIONS).helpGroup(LIMIT_GROUP);
}

/**
 * Adds one flag for every row of the table of limits, and the flags of the launcher and of the isolation. `turn` shows the defaults of a turn and has no
 * `concurrency`, because a session computes one turn at a time.
 */
export function addLimits(command: Command, of: 'run' | 'turn'): Command {
  for (const row of LIMITS) {
    // The protocol bounds the sizes of a turn: a larger limit would have no effect, so the flag refuses it.
    const most = of === 'turn' ? (row.turnDefault ?? null) : null;
    const limit = most === null ? row : { ...row, max: most };
    const shown = most ?? row.default;
    command.addOption(
      new Option(`--${limit.flag} <${PLACEHOLDER[limit.unit]}>`, `${limit.help} (${quantity(limit.unit, shown)})`)
        .argParser((text: string) => parseQuantity(limit, text))
        .helpGroup(LIMIT_GROUP),
    );
  }
  for (const limit of POOL_LIMITS) {
    if (of === 'turn' && limit.key === 'concurrency') continue;
    command.addOption(
      new Option(
        `--${limit.flag} <${PLACEHOLDER[limit.unit]}>`,
        `${limit.help} (${limit.default === null ? 'cores' : quantity(limit.unit, limit.default)})`,
      )
        .argParser((text: string) => parseQuantity(limit, text))
        .helpGroup(LIMIT_GROUP),
    );
  }
  return command.addOption(launcherOption()).addOption(isolationOption());
}

/** The limits that a command's flags give. */
export function limitsOf(flags: object): RuntimeLimitOptions {
  const all: Readonly<Record<string, unknown>> = { ...flags };
  const given: { -readonly [Key in LimitKey | PoolKey]?: number } = {};
  for (const limit of [...LIMITS, ...POOL_LIMITS]) {
    const value = all[new Option(`--${limit.flag}`).attributeName()];
    if (typeof value === 'number') given[limit.key] = value;
  }
  return given;
}

export interface Named {
  readonly name: string;
  readonly text: string;
}

/** Reads `NAME=TEXT`; `form` is what the error calls the text. */
export function parseNamed(flag: string, text: string, form: string): Named {
  const cut = text.indexOf('=');
  if (cut <= 0 || (form === 'FILE' && cut === text.length - 1))
    throw new UsageError(`${flag} '${text}' has no value; write ${flag} NAME=${form}`);
  return { name: text.slice(0, cut), text: text.slice(cut + 1) };
}

/** Reads `NAME=JSON`; the error for a value that is not JSON says how to quote it. */
export function parsePair(flag: string, given: string): { readonly name: string; readonly value: TaggedJson } {
  const { name, text } = parseNamed(flag, given, 'JSON');
  return { name, value: parseJson(`${flag} ${name}`, text) };
}

/** Reads the JSON text of a flag. */
export function parseJson(what: string, text: string): TaggedJson {
  try {
    return JSON.parse(text);
  } catch {
    const quoted = /^[\p{L}\p{N} _.:/-]+$/u.test(text)
      ? `; for text write '${JSON.stringify(text)}' with both kinds of quotes`
      : '';
    throw new UsageError(`${what}: '${clip(text, 100)}' is not JSON${quoted}`);
  }
}

/** Reads a value of the language from its JSON; `what` names it in errors. */
export function parseValue(what: string, text: string): TaggedJson {
  try {
    const value: TaggedJson = JSON.parse(text);
    decode(value);
    return value;
  } catch (cause) {
    const why = cause instanceof ValueError ? cause.message : 'it is not JSON; write a text as \'"text"\'';
    throw new UsageError(`${what}: ${why}`, { cause });
  }
}

export function repeatable<Value>(
  read: (text: string) => Value,
): (text: string, before: readonly Value[] | undefined) => readonly Value[] {
  return (text, before = []) => [...before, read(text)];
}

export const texts = repeatable((text) => text);

/** Reads a time in milliseconds that a timer can wait for. */
export function timeFlag(flag: string): (text: string) => number {
  return (text) => parseQuantity({ flag, unit: 'ms', min: 1, max: MAX_TIMER_MS }, text);
}

export function wholeNumber(flag: string, min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min) throw new UsageError(`${flag} '${text}' must be a whole number of at least ${min}`);
    if (value > max) throw new UsageError(`${flag} '${text}' is too large; the maximum is ${max}`);
    return value;
  };
}
