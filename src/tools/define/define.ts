import { NS_CODES } from '../../wire/codes.ts';
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
  timerMs,
  wholeNumber,
} from '../../wire/options.ts';
import { type PureDeclaration, readSignature } from '../../wire/pure/declaration.ts';
import type { OrderedValue, Value } from '../../wire/values.ts';
import { ToolError } from '../errors.ts';
import { canonicalName, checkToolName } from '../names.ts';
import { parseCapability } from '../policy/capability.ts';
import { priceFrom, type ToolCost } from './cost.ts';
import type { Effects, ToolDefinition, ToolRuntime } from './definition.ts';
import { type ArgSpecs, type ArgsOf, type OrderedArgsOf, parametersOf } from './parameters.ts';
import { type ResultOf, type ReturnSpec, returnsOf } from './returns.ts';

/** The declaration of a tool, for {@link defineTool}. */
export interface ToolInit<S extends ArgSpecs, R extends ReturnSpec = ReturnSpec, M extends boolean = false> {
  /** The group of a short `name`: `shop` and `Price` make `tool.shop.Price`. It may have dots. */
  readonly group?: string;
  /** `tool.group.Name`, or only the last part when there is a `group`. Calls ignore letter case. */
  readonly name: string;
  /** One or two sentences. A short catalogue shows the first one. */
  readonly description?: string | undefined;
  /** A call as a program would write it, for catalogues. */
  readonly example?: string;
  /** The arguments, in one of three forms; none when absent. */
  readonly args?: S | undefined;
  /**
   * The result: an ArgType or a schema, by which every result is checked (code 21), or words for catalogues. An ArgType fits a
   * result as it fits an argument, and allows nil; a schema allows nil or not.
   */
  readonly returns?: R | undefined;
  /** `write` when absent, which is the safe assumption. */
  readonly effects?: Effects | undefined;
  /**
   * Whether a call can be repeated after a crash without a second effect, for instance because the tool passes `runtime.call.key` on to a
   * system that recognises it. When absent, true for a tool that writes nothing, else false.
   */
  readonly idempotent?: boolean | undefined;
  /**
   * Whether a call may set variables and constants of the program. True when absent, which is the safe assumption. When false, the host
   * refuses `setVar` and `defineConstant` to the tool and to the tools that it calls, so `foresee` knows more about programs that call
   * it.
   */
  readonly setsVariables?: boolean;
  /**
   * What a call costs: `{ usd: 0.01 }`, or `{ usd: { each: 0.002, of: 'pages' } }` by the argument `pages`, a number or the length of a list or
   * a text. A call that begins is paid, also when it fails. Nothing when absent.
   */
  readonly cost?: ToolCost | undefined;
  /** Grants that a policy must give, as `resource:verb,verb[:scope,scope]`. */
  readonly capabilities?: readonly string[] | undefined;
  /** Only a policy of context `config` admits the tool. */
  readonly requiresTrust?: boolean;
  /**
   * The tool runs only when a human has approved exactly this call: plan `{"tool": canonical name, "args": [as given]}`. Otherwise
   * the call fails with code 1003. The approval is an `Approval` in the turn; a loop receives it and never makes it.
   */
  readonly requiresApproval?: boolean | undefined;
  /** Most milliseconds of one call. Then `signal` is aborted and the call fails with code 37. Only work that awaits can be stopped. */
  readonly timeoutMs?: number | undefined;
  /** Most bytes of one call's arguments as JSON; more is code 4. The limit `toolBytes` applies too. */
  readonly maxArgBytes?: number;
  /**
   * Most bytes of one result as JSON; more is code 37, which a script can catch, unlike a breach of `toolBytes`. Of calls that run together
   * so many begin at once as have room for such results in `journalBytes`.
   */
  readonly maxResultBytes?: number;
  /**
   * Whether the maps in arguments, and in the answer to a suspended call, are ES maps. These have the key order of the program. When
   * absent, maps are plain objects, in which JavaScript puts whole-number keys first.
   */
  readonly orderedMaps?: M;
  /** Returns a `Value`, plain objects, a `Map`, a `Date`, `undefined` for nil, or a promise of these. */
  readonly run: (args: ArgsFor<S, M>, runtime: ToolRuntime) => ResultOf<R> | Promise<ResultOf<R>>;
  /**
   * Called when a call that `run` left with `runtime.pending()` is completed. Takes the answer, and gives the result or waits again.
   * When absent, the answer is the result.
   */
  readonly complete?: (answer: M extends true ? OrderedValue : Value, args: ArgsFor<S, M>, runtime: ToolRuntime) => unknown;
}

type ArgsFor<S extends ArgSpecs, M extends boolean> = M extends true ? OrderedArgsOf<S> : ArgsOf<S>;

/** The tools that {@link defineAs} has checked. */
const made = new WeakSet<object>();

const checkInit = checker<ToolInit<ArgSpecs, ReturnSpec, boolean>>({
  group: anything,
  name: required(anything),
  description: checkText,
  example: checkText,
  args: anything,
  returns: anything,
  effects: oneOf('none', 'read', 'write'),
  idempotent: checkFlag,
  setsVariables: checkFlag,
  cost: anything,
  capabilities: listOf(checkText),
  requiresTrust: checkFlag,
  requiresApproval: checkFlag,
  timeoutMs: timerMs(1),
  maxArgBytes: wholeNumber(1),
  maxResultBytes: wholeNumber(1),
  orderedMaps: checkFlag,
  run: required(checkFunction),
  complete: checkFunction,
});

/**
 * Makes a tool: checks its declaration and freezes it. `run` gets the arguments by name, already checked, and its result goes back
 * to the program. Throws {@link ConfigError} (`ERR_CONFIG`) that names the tool and the field.
 *
 * @example
 * ```ts
 * import { createRuntime, defineTool } from 'neuroscript-runtime';
 *
 * const add = defineTool({
 *   name: 'tool.math.Add',
 *   description: 'Adds two numbers.',
 *   args: [
 *     { name: 'a', type: 'number' },
 *     { name: 'b', type: 'number' },
 *   ],
 *   returns: 'number',
 *   effects: 'none',
 *   run: ({ a, b }) => a + b,
 * });
 * await using runtime = await createRuntime({ tools: [add], policy: { allow: ['tool.math.*'] } });
 * ```
 */
export function defineTool<
  const S extends ArgSpecs = readonly [],
  const R extends ReturnSpec = string,
  const M extends boolean = false,
>(init: ToolInit<S, R, M>): ToolDefinition {
  return defineAs({ where: 'host', standard: false }, init);
}

/** As {@link defineTool}, for a standard tool that runs on the host. None sets a variable. */
export function defineStandard<
  const S extends ArgSpecs = readonly [],
  const R extends ReturnSpec = string,
  const M extends boolean = false,
>(init: ToolInit<S, R, M>): ToolDefinition {
  return defineAs({ where: 'host', standard: true }, { setsVariables: false, ...init });
}

/** As {@link defineTool}, for a tool of any kind. */
export function defineAs<const S extends ArgSpecs, const R extends ReturnSpec, const M extends boolean = false>(
  kind: Pick<ToolDefinition, 'where' | 'standard'>,
  init: ToolInit<S, R, M>,
): ToolDefinition {
  checkObject('a tool', init);
  const name = checkToolName(init.group === undefined ? init.name : `tool.${init.group}.${init.name}`);
  checkInit(name, init);
  const parameters = Object.freeze(parametersOf(name, init.args ?? []));
  const tool = Object.freeze({
    name,
    ...kind,
    canonicalName: canonicalName(name),
    description: init.description ?? '',
    example: init.example ?? '',
    parameters,
    ...returnsOf(name, init.returns ?? 'any'),
    effects: init.effects ?? 'write',
    idempotent: init.idempotent ?? (init.effects ?? 'write') !== 'write',
    setsVariables: init.setsVariables ?? true,
    price: priceFrom(name, init.cost, parameters),
    capabilities: Object.freeze((init.capabilities ?? []).map(parseCapability)),
    requiresTrust: init.requiresTrust ?? false,
    requiresApproval: init.requiresApproval ?? false,
    timeoutMs: init.timeoutMs ?? null,
    maxArgBytes: init.maxArgBytes ?? null,
    maxResultBytes: init.maxResultBytes ?? null,
    orderedMaps: init.orderedMaps ?? false,
    // The dispatcher calls `run` with exactly what `parameters` describe, and `ArgsOf<S>` is their type.
    run: init.run as ToolDefinition['run'],
    complete: (init.complete ?? null) as ToolDefinition['complete'],
  });
  made.add(tool);
  return tool;
}

/** The same tool with another function, for code that observes or disturbs tools. Its definition has the same digest. */
export function withWork(tool: ToolDefinition, work: Pick<ToolDefinition, 'run' | 'complete'>): ToolDefinition {
  const other = Object.freeze({ ...checkTool(tool), run: work.run, complete: work.complete });
  made.add(other);
  return other;
}

/** Throws {@link ConfigError} (`ERR_CONFIG`) for an object that was not made by {@link defineTool}. */
export function checkTool(tool: ToolDefinition): ToolDefinition {
  if (made.has(tool)) return tool;
  throw new ConfigError('a tool must be made with defineTool, which checks it');
}

/**
 * The definition of a pure tool, made from its declaration: lookup, policy, checks and catalogues treat it like any other tool.
 * Only scripts can call it, because it runs inside the isolate.
 */
export function definePure(name: string, declaration: PureDeclaration): ToolDefinition {
  const {
    args: declared,
    example: [call, prints],
    ...words
  } = declaration;
  const args = declared.map(([signature, description]) => {
    const { default: value, ...arg } = readSignature(signature);
    return { ...arg, description, ...(value === null ? {} : { default: value }) };
  });
  const run = (): never => {
    throw new ToolError(NS_CODES.NotImplemented, `${name} runs inside the isolate: only a script can call it`);
  };
  // A result of one line is appended to the call as a comment.
  const example = prints.includes('\n') ? call : `${call}  # ${prints}`;
  return defineAs({ where: 'isolate', standard: true }, { ...words, name, args, example, effects: 'none', run });
}
