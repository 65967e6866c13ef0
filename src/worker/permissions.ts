/**
 * The worker starts with the least that loading needs, gives that up, and looks whether it is gone. Node's `drop` ignores a
 * scope it does not know without a word, so only `has` counts.
 */

/** What loading needed: reading its own files, and the native part of isolated-vm. */
const NEEDED_TO_LOAD = ['fs.read', 'addon'] as const;

/** Everything the permission model of any supported Node line can close. */
const SCOPES = ['fs.read', 'fs.write', 'child', 'worker', 'addon', 'wasi', 'inspector', 'net', 'ffi'] as const;

/** Scopes that not every supported line knows, with the flag by which one sees whether this one does. */
const NEWER: ReadonlyMap<string, string> = new Map([
  ['inspector', '--allow-inspector'],
  ['net', '--allow-net'],
  ['ffi', '--allow-ffi'],
]);

/** `process.permission` as Node 26 has it; `drop` is absent on older lines, all of it without `--permission`. */
export interface PermissionPort {
  has(scope: string): boolean;
  drop?(scope: string): void;
}

/**
 * Drops what loading needed and returns the scopes that are closed now. A scope this Node line cannot close is not in the
 * list, and the host decides whether it accepts that. Throws when a scope that this line can close is still open.
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
