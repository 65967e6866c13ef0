import { ConfigError } from '../../wire/errors.ts';
import { checker, checkObject, checkText, listOf, oneOf, wholeNumber } from '../../wire/options.ts';
import { canonicalName } from '../names.ts';
import { type Capability, capabilityText, parseCapability } from './capability.ts';

/** The kind of a run. Only `config` admits tools that require trust. */
export type PolicyContext = 'config' | 'normal' | 'test';

/** The tools that a script may call. An absent or empty allow list denies every tool. */
export interface PolicyOptions {
  /** `normal` when absent. */
  readonly context?: PolicyContext;
  /** Patterns over canonical names: `tool.fs.read`, `tool.math.*`, `*.get`, `*mem*`, `*`. */
  readonly allow?: readonly string[];
  /** Patterns that override `allow`. A pattern that no name can match is an error, because it would deny nothing. */
  readonly deny?: readonly string[];
  /** Capabilities, as `resource:verb,verb[:scope,scope]`. */
  readonly grants?: readonly string[];
  /** Most calls of a tool by all forks of one root interpreter together. */
  readonly toolMaxCalls?: Readonly<Record<string, number>>;
  /** `error` (when absent): a breach is code 1003, which `on error` sees. `halt`: a breach ends the run. */
  readonly onPolicyBreach?: 'error' | 'halt';
}

const checkPolicyOptions = checker<PolicyOptions>({
  context: oneOf('config', 'normal', 'test'),
  allow: listOf(checkText),
  deny: listOf(checkText),
  grants: listOf(checkText),
  toolMaxCalls: checkObject,
  onPolicyBreach: oneOf('error', 'halt'),
});

/** A checked, immutable policy. A `PolicyGuard` counts the calls. */
export class Policy {
  /** The kind of its runs. */
  readonly context: PolicyContext;
  /** Patterns of the tools that may be called. */
  readonly allow: readonly string[];
  /** Patterns of the tools that may not be called, even if `allow` has them. */
  readonly deny: readonly string[];
  /** The granted capabilities. */
  readonly grants: readonly Capability[];
  /** Most calls, by canonical name. */
  readonly toolMaxCalls: ReadonlyMap<string, number>;
  /** `error`: a breach is code 1003. `halt`: a breach ends the run. */
  readonly onPolicyBreach: 'error' | 'halt';

  /** Throws {@link ConfigError} (`ERR_CONFIG`) for options of the wrong form. */
  constructor(options: PolicyOptions = {}) {
    checkPolicyOptions('the policy', options);
    const { context = 'normal', allow = [], deny = [], grants = [], toolMaxCalls = {}, onPolicyBreach = 'error' } = options;
    this.context = context;
    this.allow = Object.freeze(trimmed('allow', allow));
    this.deny = Object.freeze(trimmed('deny', deny).map(effective));
    this.grants = Object.freeze(grants.map(parseCapability));
    this.toolMaxCalls = callLimits(toolMaxCalls);
    this.onPolicyBreach = onPolicyBreach;
    Object.freeze(this);
  }
}

/** The options that make an equal policy; null for no policy at all. */
export function policyOptions(policy: Policy | null): PolicyOptions | null {
  if (policy === null) return null;
  const { context, allow, deny, grants, toolMaxCalls, onPolicyBreach } = policy;
  return {
    context,
    allow,
    deny,
    grants: grants.map(capabilityText),
    toolMaxCalls: Object.fromEntries(toolMaxCalls),
    onPolicyBreach,
  };
}

function trimmed(key: string, patterns: readonly string[]): string[] {
  if (patterns.some((pattern) => pattern.trim() === '')) throw new ConfigError(`${key} of the policy has an empty text in it`);
  return patterns.map((pattern) => pattern.trim());
}

/** Throws for a pattern of `deny` that cannot match: it would allow what it should deny. In `allow` such a pattern does no harm. */
function effective(pattern: string): string {
  if (canMatch(pattern)) return pattern;
  throw new ConfigError(
    `deny of the policy: '${pattern}' can match no tool, so nothing would be denied; whole names are matched, such as tool.kv.Get, and '*' may stand at the start and the end alone: 'tool.kv.*', '*.get', '*mem*'`,
  );
}

/** Whether a pattern can match the name of a tool. All names begin with `tool.`. */
function canMatch(pattern: string): boolean {
  const [, open = '', fixed = '', close = ''] = /^(\*?)(.*?)(\*?)$/s.exec(pattern.toLowerCase()) ?? [];
  if (!/^[a-z0-9_.]*$/.test(fixed)) return false;
  return open !== '' || fixed.startsWith('tool.') || (close !== '' && 'tool.'.startsWith(fixed));
}

const checkCallLimit = wholeNumber(0);

function callLimits(given: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  const limits = new Map<string, number>();
  for (const [name, limit] of Object.entries(given)) {
    checkCallLimit(`the policy: toolMaxCalls.${name}`, limit);
    if (name.includes('*')) throw new ConfigError(`toolMaxCalls of the policy takes names of tools, no patterns: '${name}'`);
    limits.set(canonicalName(name), limit);
  }
  return limits;
}
