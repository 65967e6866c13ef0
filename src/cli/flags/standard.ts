import {
  capsuleTools,
  cryptoTools,
  fsTools,
  memoryTools,
  pureTools,
  SqliteStorage,
  scratchTools,
  systemTools,
  timeTools,
  toolsTools,
} from '../../../stdlib-tools/index.ts';
import type { Policy, ToolDefinition } from '../../tools/index.ts';

/**
 * The standard tools of the command line. What they keep is in `storage`, a file, or gone with this process; the file is
 * closed with `resources`. Rejects with `StoreError` (`ERR_STORE`).
 */
export async function standardTools(
  storage: string | undefined,
  resources: AsyncDisposableStack,
): Promise<readonly ToolDefinition[]> {
  const kept = storage === undefined ? {} : { storage: resources.use(await SqliteStorage.open(storage)) };
  const keeping = [...memoryTools(kept), ...scratchTools(kept), ...capsuleTools(kept)];
  return [...pureTools(), ...timeTools(), ...cryptoTools(), ...filesHere(), ...keeping, ...toolsTools()];
}

/** Those that speak of the policy, which is made when all others are known. */
export function policyTools(policy: Policy): readonly ToolDefinition[] {
  return systemTools({ policy });
}

/** Windows cannot hold a directory open, and has no files for scripts therefore. */
function filesHere(): readonly ToolDefinition[] {
  return process.platform === 'win32' ? [] : fsTools();
}
