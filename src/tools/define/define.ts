import { ConfigError } from '../../wire/errors.ts';
import {
  anything,
  checker,
  checkFlag,
  checkFunction,
  checkObject,
  checkText,
  listOf,
  oneOf,
  required,
  wholeNumber,
} from '../../wire/options.ts';
import type { Value } from '../../wire/values.ts';
import { canonicalName, checkToolName } from '../names.ts';
import { parseCapability } from '../policy/capability.ts';
import type { Effects, ToolDefinition, ToolRuntime } from './definition.ts';
import { type ArgSpecs, type ArgsOf, parametersOf } from './parameters.ts';
import { type ResultOf, type ReturnSpec, returnsOf } from './returns.ts';

/** What {@link defineTool} makes a tool from. */
export interface ToolInit<S extends ArgSpecs, R extends ReturnSpec = ReturnSpec> {
  /** Where `name` is a short one: `shop` and `Price` make `tool.shop.Price`. It may have dots. */
  readonly group?: string;
  /** `tool.group.Name`, or the last part alone beside `group`; calls ignore letter case. */
  readonly name: string;
  /** What it does, in a sentence or two; the first one is what a short catalogue shows. */
  readonly description?: string;
  /** A call as a program would write it, for catalogues. */
  readonly example?: string;
  readonly args?: S;
  /**
   * What it gives back: an ArgType or a schema, to which every result is held (code 21), or words for catalogues. By ArgType
   * a result is fitted like an argument and nil passes; a schema says itself whether it does.
   */
  readonly returns?: R;
  /** `write` when absent: the careful assumption. */
  readonly effects?: Effects;
  /** Grants that a policy must give, as `resource:verb,verb[:scope,scope]` (language.md 9.6). */
  readonly capabilities?: readonly string[];
  /** Only a policy of context `config` admits the tool. */
  readonly requiresTrust?: boolean;
  /**
   * Runs only when a human has approved exactly this call: plan `{"tool": canonical name, "args": [as given]}`. Without that
   * the call fails with code 1003. Needs an `Approval` in the turn, which a loop is given and never makes.
   */
  readonly requiresApproval?: boolean;
  /** Most milliseconds of one call; then it fails with code 37 and `signal` is aborted. Only what awaits can be stopped. */
  readonly timeoutMs?: number;
  /** Most bytes of one call's arguments as JSON; more is code 4. The limit `toolBytes` holds besides. */
  readonly maxArgBytes?: number;
  /** Most bytes of one result as JSON; more is code 37, which a script can catch, unlike a breach of `toolBytes`. */
  readonly maxResultBytes?: number;
  /** Returns what `Value` holds, plain objects, a `Date`, `undefined` for nil, or a promise of these. */
  readonly run: (args: ArgsOf<S>, runtime: ToolRuntime) => ResultOf<R> | Promise<ResultOf<R>>;
  /**
   * Called when a call that `run` left with `runtime.pending()` is completed: takes the answer that was given and gives the
   * result, or waits again. The answer is the result when absent.
   */
  readonly complete?: (answer: Value, args: ArgsOf<S>, runtime: ToolRuntime) => unknown;
}

/** So that nothing counts as checked which did not come through here. */
const made = new WeakSet<object>();

/** Longest time that a timer can wait. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const checkInit = checker<ToolInit<ArgSpecs>>({
  group: anything,
  name: required(anything),
  description: checkText,
  example: checkText,
  args: anything,
  returns: anything,
  effects: oneOf('none', 'read', 'write'),
  capabilities: listOf(checkText),
  requiresTrust: checkFlag,
  requiresApproval: checkFlag,
  timeoutMs: wholeNumber(1, MAX_TIMEOUT_MS),
  maxArgBytes: wholeNumber(1),
  maxResultBytes: wholeNumber(1),
  run: required(checkFunction),
  complete: checkFunction,
});

/** Checks and freezes a tool. Throws {@link ConfigError} (`ERR_CONFIG`) that names the tool and the field. */
export function defineTool<const S extends ArgSpecs = readonly [], const R extends ReturnSpec = string>(
  init: ToolInit<S, R>,
): ToolDefinition {
  return defineAt('host', init);
}

/** As {@link defineTool}, for a tool that runs there. */
export function defineAt<const S extends ArgSpecs, const R extends ReturnSpec>(
  where: ToolDefinition['where'],
  init: ToolInit<S, R>,
): ToolDefinition {
  checkObject('a tool', init);
  const name = checkToolName(init.group === undefined ? init.name : `tool.${init.group}.${init.name}`);
  checkInit(name, init);
  const tool = Object.freeze({
    name,
    where,
    canonicalName: canonicalName(name),
    description: init.description ?? '',
    example: init.example ?? '',
    parameters: Object.freeze(parametersOf(name, init.args ?? [])),
    ...returnsOf(name, init.returns ?? 'any'),
    effects: init.effects ?? 'write',
    capabilities: Object.freeze((init.capabilities ?? []).map(parseCapability)),
    requiresTrust: init.requiresTrust ?? false,
    requiresApproval: init.requiresApproval ?? false,
    timeoutMs: init.timeoutMs ?? null,
    maxArgBytes: init.maxArgBytes ?? null,
    maxResultBytes: init.maxResultBytes ?? null,
    // The dispatcher calls `run` with exactly what `parameters` describe, and `ArgsOf<S>` is their type.
    run: init.run as ToolDefinition['run'],
    complete: (init.complete ?? null) as ToolDefinition['complete'],
  });
  made.add(tool);
  return tool;
}

/** Throws {@link ConfigError} (`ERR_CONFIG`) for what looks like a tool and was not made by {@link defineTool}. */
export function checkTool(tool: ToolDefinition): ToolDefinition {
  if (made.has(tool)) return tool;
  throw new ConfigError('a tool must be made with defineTool, which checks it');
}
