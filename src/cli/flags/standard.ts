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

/** The value of `--storage` for values that end with the process. */
const NONE = 'none';

/**
 * The standard tools of the command line. They store values in the file `storage`, which closes with `resources`, or in memory.
 * Rejects with `StoreError` (`ERR_STORE`).
 */
export async function standardTools(
  storage: string | undefined,
  resources: AsyncDisposableStack,
): Promise<readonly ToolDefinition[]> {
  const kept = storage === undefined || storage === NONE ? {} : { storage: resources.use(await SqliteStorage.open(storage)) };
  const keeping = [...memoryTools(kept), ...scratchTools(kept), ...capsuleTools(kept)];
  // Windows cannot hold a directory open, so it has no file tools.
  const files = process.platform === 'win32' ? [] : fsTools();
  return [...pureTools(), ...timeTools(), ...cryptoTools(), ...files, ...keeping, ...toolsTools()];
}

/** The tools that describe the policy; the policy itself needs the list of all others. */
export function policyTools(policy: Policy): readonly ToolDefinition[] {
  return systemTools({ policy });
}
