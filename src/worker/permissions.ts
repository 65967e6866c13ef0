/**
 * The worker starts with the permissions that loading needs, drops them, and checks that they are gone. Node's `drop` silently ignores an
 * unknown scope, so the check uses `has`.
 */

/** Permissions for loading: reading the worker's own files, the native part of isolated-vm, and setting the filter. */
const NEEDED_TO_LOAD = ['fs.read', 'addon', 'ffi'] as const;

/** All scopes that the permission model of some supported Node version can close. */
const SCOPES = ['fs.read', 'fs.write', 'child', 'worker', 'addon', 'wasi', 'inspector', 'net', 'ffi'] as const;

/** Scopes that only newer Node versions have, with the flag that exists in those versions. */
const NEWER: ReadonlyMap<string, string> = new Map([
  ['inspector', '--allow-inspector'],
  ['net', '--allow-net'],
  ['ffi', '--allow-ffi'],
]);

/** `process.permission` of Node 26. `drop` is absent in older versions; the whole object is absent without `--permission`. */
export interface PermissionPort {
  has(scope: string): boolean;
  drop?(scope: string): void;
}

/**
 * Drops the permissions for loading and returns the scopes that are closed. A scope that this Node version cannot close is not in
 * the list; the host decides whether it accepts that. Throws when a scope that this version can close is still open.
 */
export function closePermissions(permission: PermissionPort | undefined, knownFlags: ReadonlySet<string>): string[] {
  if (permission === undefined) return [];
  for (const scope of NEEDED_TO_LOAD) permission.drop?.(scope);
  const supported = SCOPES.filter((scope) => knownFlags.has(NEWER.get(scope) ?? '--permission'));
  const open = supported.filter((scope) => permission.has(scope));
  const kept: readonly string[] = permission.drop === undefined ? NEEDED_TO_LOAD : [];
  const wrong = open.filter((scope) => !kept.includes(scope));
  if (wrong.length > 0) throw new Error(`the worker still has the permissions ${wrong.join(', ')}`);
  return supported.filter((scope) => !open.includes(scope));
}
