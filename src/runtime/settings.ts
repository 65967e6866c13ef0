import { type LimitOptions, resolveLimits } from '../sandbox/index.ts';
import { Telemetry } from '../telemetry/index.ts';
import {
  type AuditRecord,
  type FlowRules,
  matchesPattern,
  misnamed,
  Policy,
  type PolicyOptions,
  SessionResources,
  type ToolDefinition,
  ToolRegistry,
} from '../tools/index.ts';
import { ConfigError } from '../wire/errors.ts';
import type { LimitValues } from '../wire/limits.ts';
import { anything, checker, checkFunction, checkList, checkObject, checkText, methods } from '../wire/options.ts';
import type { AskHandler } from './ask.ts';
import { Tenants, type TenantsOptions } from './tenants.ts';

/** The settings of a runtime, apart from its sandbox. */
export interface RuntimeSettings {
  /** The tools of all programs, besides the built-in ones; none when absent. */
  readonly tools?: readonly ToolDefinition[];
  /** When absent, only the policy of a fork or run allows tools. Null stands for a missing policy, which denies everything and says so. */
  readonly policy?: Policy | PolicyOptions | null;
  /** Absent limits keep their defaults. Forks and runs can only tighten them. */
  readonly limits?: LimitOptions;
  /** Receives a record of every tool call, including the calls that tools make. */
  readonly audit?: (record: AuditRecord) => unknown;
  /** Answers `ask`: `askHandler` of `neuroscript-runtime/loop` makes it. Without it every `ask` fails with code 9. */
  readonly ask?: AskHandler | undefined;
  /** Limits of tenants. Runs that name a tenant have the defaults of the table of limits when absent. */
  readonly tenants?: TenantsOptions | undefined;
  /** Unix milliseconds, for deadlines; the system's clock when absent. */
  readonly now?: (() => number) | undefined;
  /** The parent of the directories of sessions; the system's directory for temporary files when absent. */
  readonly sandboxRoot?: string;
  /** Receives spans and metrics; the application's OpenTelemetry SDK when absent. Without an SDK there are none. */
  readonly telemetry?: Telemetry;
}

/** Checked {@link RuntimeSettings}. */
export interface Settings {
  readonly registry: ToolRegistry;
  readonly policy: Policy | null;
  /** Whether `policy` was given. Otherwise the policy of a fork replaces it. */
  readonly hasPolicy: boolean;
  readonly limits: LimitValues;
  readonly audit: ((record: AuditRecord) => unknown) | undefined;
  readonly now: () => number;
  readonly resources: SessionResources;
  readonly ask: AskHandler | undefined;
  readonly tenants: Tenants;
  readonly telemetry: Telemetry;
}

/** The checks of {@link RuntimeSettings}. */
export const RUNTIME_SETTINGS = {
  tools: checkList,
  policy: anything,
  limits: anything,
  audit: checkFunction,
  ask: checkFunction,
  tenants: checkObject,
  now: checkFunction,
  sandboxRoot: checkText,
  telemetry: methods('span'),
} as const;

const checkRuntimeSettings = checker<RuntimeSettings>(RUNTIME_SETTINGS);

/** Throws {@link ConfigError} (`ERR_CONFIG`) for settings that cannot be used. */
export function checkSettings(settings: RuntimeSettings): Settings {
  checkRuntimeSettings('the options of the runtime', settings);
  const { tools = [], policy, limits = {}, audit, now = Date.now, sandboxRoot, ask, tenants = {} } = settings;
  const registry = new ToolRegistry(tools);
  const resources = new SessionResources(sandboxRoot);
  return {
    registry,
    policy: policy === null ? null : checkPolicy(policy ?? {}, registry),
    hasPolicy: policy !== undefined,
    limits: Object.freeze(resolveLimits('run', limits)),
    audit,
    now,
    resources,
    ask,
    tenants: new Tenants(tenants, now),
    telemetry: settings.telemetry ?? new Telemetry(),
  };
}

/**
 * The policy that options describe. Throws {@link ConfigError} for bad options, and for rules about calls of pure tools, because
 * such calls never reach the host, and for names that the tools do not have.
 */
export function checkPolicy(options: Policy | PolicyOptions, registry: ToolRegistry): Policy {
  const policy = options instanceof Policy ? options : new Policy(options);
  const judged = [
    ...[...policy.toolMaxCalls.keys()].map((name) => ['toolMaxCalls', name] as const),
    ...Object.keys(policy.when).map((pattern) => ['when', pattern] as const),
    ...policy.order.map(({ tool }) => ['order', tool] as const),
    ...(policy.flow?.sinks ?? []).map(({ entry }) => ['sinks', entry] as const),
    ...sourceTools(policy.flow).map((pattern) => ['labels', pattern] as const),
  ];
  for (const [rule, pattern] of judged) {
    const tools = registry.names().flatMap((name) => (matchesPattern(pattern, name) ? (registry.lookup(name) ?? []) : []));
    if (tools.length > 0 && tools.every(({ where }) => where === 'isolate'))
      throw new ConfigError(
        `${rule} cannot bound ${pattern}: it runs inside the isolate, where fuel bounds it; deny it, or leave it out`,
      );
  }
  const problem = misnamed(policy, (name) => registry.lookup(name), registry.names());
  if (problem !== null) throw new ConfigError(`the policy: ${problem}`);
  return policy;
}

/** The patterns of tools that give labels or take them away. */
function sourceTools(flow: FlowRules | null): readonly string[] {
  const sources = (flow?.sources ?? []).flatMap((source) => (source.from === 'tool' ? [source.pattern] : []));
  return [...sources, ...(flow?.endorse ?? []).map(({ pattern }) => pattern)];
}
