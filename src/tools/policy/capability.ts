import { ConfigError } from '../../wire/errors.ts';

/** A need of a tool or a grant of a policy: verbs on a resource, optionally within scopes. */
export interface Capability {
  /** Lower case, for instance `fs`; `*` in a grant means every resource. */
  readonly resource: string;
  /** Lower case, for instance `read`. */
  readonly verbs: readonly string[];
  /** Paths, hosts or others; empty for all. */
  readonly scopes: readonly string[];
}

/** Reads `resource:verb,verb[:scope,scope]`. Throws {@link ConfigError} when a part is missing. */
export function parseCapability(text: string): Capability {
  const [resource = '', verbs = '', ...scope] = text.split(':');
  const parts = (list: string): string[] =>
    list
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  const capability: Capability = {
    resource: resource.trim().toLowerCase(),
    verbs: parts(verbs.toLowerCase()),
    scopes: parts(scope.join(':')),
  };
  if (capability.resource === '' || capability.verbs.length === 0)
    throw new ConfigError(`'${text}' is not a capability; write resource:verb,verb or resource:verb:scope,scope`);
  return Object.freeze(capability);
}

/** The text form, as {@link parseCapability} reads it. */
export function capabilityText({ resource, verbs, scopes }: Capability): string {
  return [resource, verbs.join(','), ...(scopes.length === 0 ? [] : [scopes.join(',')])].join(':');
}

/** Whether this one grant meets the whole need. */
export function meets(grant: Capability, need: Capability): boolean {
  if (grant.resource !== '*' && grant.resource !== need.resource) return false;
  if (!grant.verbs.includes('*') && !need.verbs.every((verb) => grant.verbs.includes(verb))) return false;
  const match = scopeMatcher(need.resource);
  return need.scopes.every((wanted) => grant.scopes.some((granted) => match(granted, wanted)));
}

type ScopeMatch = (granted: string, wanted: string) => boolean;

function scopeMatcher(resource: string): ScopeMatch {
  if (['env', 'secrets', 'model', 'sandbox', 'proc'].includes(resource)) return matchesPattern;
  if (resource === 'fs') return (granted, wanted) => granted === '*' || globMatches(granted, wanted);
  if (resource === 'net') return netMatches;
  return (granted, wanted) => granted === '*' || granted === 'true' || granted.toLowerCase() === wanted.toLowerCase();
}

/**
 * Matches a wildcard: `*` all, `*x*` contains, `*x` ends with, `x*` begins with, else equal. Ignores letter case. `lower` puts the text
 * into small letters; who has many patterns for one long text passes a function that keeps its result.
 */
export function matchesPattern(pattern: string, text: string, lower = (each: string): string => each.toLowerCase()): boolean {
  const wanted = pattern.toLowerCase();
  if (wanted === '*') return true;
  const subject = lower(text);
  const open = wanted.startsWith('*');
  const close = wanted.endsWith('*');
  if (open && close) return subject.includes(wanted.slice(1, -1));
  if (open) return subject.endsWith(wanted.slice(1));
  return close ? subject.startsWith(wanted.slice(0, -1)) : subject === wanted;
}

/**
 * Matches a shell glob: `*` and `?` stay within a path segment, `[a-z]` is a class, `\` quotes the next character. The time grows with
 * the product of both lengths and no faster, because the grants of a record are foreign.
 */
function globMatches(glob: string, path: string): boolean {
  const steps = globSteps(glob);
  if (steps === null) return false;
  /** Number of leading steps that can match the path so far. */
  let counts = withEmpty(steps, new Set([0]));
  for (const char of path) {
    const next = new Set<number>();
    for (const count of counts) {
      const step = steps[count];
      if (step === 'any' && char !== '/') next.add(count);
      else if (typeof step === 'function' && step(char)) next.add(count + 1);
    }
    counts = withEmpty(steps, next);
  }
  return counts.has(steps.length);
}

/** Adds the counts that are reached where a star matches nothing. A set that grows while it is read is read to its end. */
function withEmpty(steps: readonly GlobStep[], counts: Set<number>): ReadonlySet<number> {
  for (const count of counts) if (steps[count] === 'any') counts.add(count + 1);
  return counts;
}

/** A step of a glob: any number of characters within a path segment, or one character. */
type GlobStep = 'any' | ((char: string) => boolean);

/** The steps of a glob; null for one with a bad class, such as `[z-a]`, which grants nothing. */
function globSteps(glob: string): readonly GlobStep[] | null {
  const chars = [...glob];
  const last = chars.lastIndexOf(']');
  const steps: GlobStep[] = [];
  for (let index = 0; index < chars.length; index++) {
    let char = chars[index];
    const close = char === '[' && index + 2 <= last ? chars.indexOf(']', index + 2) : -1;
    if (char === '*') steps.push('any');
    else if (char === '?') steps.push((each) => each !== '/');
    else if (close > 0) {
      const one = classOf(chars.slice(index + 1, close).join(''));
      if (one === null) return null;
      steps.push((each) => one.test(each));
      index = close;
    } else {
      if (char === '\\' && index + 1 < chars.length) char = chars[++index];
      const wanted = char;
      steps.push((each) => each === wanted);
    }
  }
  return steps;
}

function classOf(content: string): RegExp | null {
  try {
    return new RegExp(`^[${content.replace(/[\\[\]]/g, '\\$&')}]$`, 'su');
  } catch {
    return null;
  }
}

function netMatches(granted: string, wanted: string): boolean {
  if (granted === '*') return true;
  const [host, port] = hostAndPort(granted);
  const [wantedHost, wantedPort] = hostAndPort(wanted);
  if (port !== null && wantedPort !== null && port !== wantedPort) return false;
  if (host === '*' || host === wantedHost) return true;
  if (host.startsWith('*.')) return wantedHost === host.slice(2) || wantedHost.endsWith(host.slice(1));
  return globMatches(host, wantedHost);
}

function hostAndPort(text: string): readonly [host: string, port: string | null] {
  const parts = /^(.*?)(?::(\d+))?$/s.exec(text.toLowerCase());
  return [parts?.[1] ?? '', parts?.[2] ?? null];
}
