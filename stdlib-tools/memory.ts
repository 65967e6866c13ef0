import { defineStandard, type ToolDefinition } from '../src/tools/index.ts';
import { actorScope, type ScopeOf } from './scope.ts';
import { MemoryStorage } from './storage/sqlite.ts';
import { readValue, storedValue, type VersionedStorage } from './storage/versioned.ts';

/** Options of {@link memoryTools}. */
export interface MemoryToolsOptions {
  /** A {@link MemoryStorage} if absent. */
  readonly storage?: VersionedStorage;
  /** {@link actorScope} if absent. */
  readonly scope?: ScopeOf;
}

/**
 * `tool.memory.Get(path)` and `tool.memory.CAS(path, version, value)`: values that outlive a turn. A write
 * names the version that was read, so no write is blind. The tools need the grants `memory:read` and `memory:write`.
 */
export function memoryTools(options: MemoryToolsOptions = {}): readonly ToolDefinition[] {
  const storage = options.storage ?? new MemoryStorage();
  const scope = options.scope ?? actorScope;
  return [
    defineStandard({
      name: 'tool.memory.Get',
      description: 'Reads the value at a path as [value, version]; [nil, 0] if there is none.',
      example: 'tool.memory.Get("/plans/today")',
      args: [{ name: 'path', type: 'string', description: 'the path of the value, such as "/notes/todo"' }],
      returns: 'list [value, version]',
      effects: 'read',
      capabilities: ['memory:read'],
      async run({ path }, runtime) {
        const found = await storage.get(scope(runtime), path, runtime.turn.now());
        return found === null ? [null, 0] : [readValue(found.value, runtime), found.version];
      },
    }),
    defineStandard({
      name: 'tool.memory.CAS',
      description: 'Stores a value at a path if its version has not changed. Returns [ok, version].',
      example: 'tool.memory.CAS("/plans/today", 0, ["read", "write"])',
      args: [
        { name: 'path', type: 'string', description: 'the path to store it at' },
        { name: 'version', type: 'int', description: 'the version that Get returned; 0 for a new path' },
        { name: 'value', required: false, description: 'the value to store' },
      ],
      returns: 'list [ok, version] with the version that is stored now',
      effects: 'write',
      idempotent: true,
      capabilities: ['memory:write'],
      orderedMaps: true,
      async run({ path, version, value }, runtime) {
        const written = await storage.cas({
          scope: scope(runtime),
          key: path,
          expected: version,
          value: storedValue(value, runtime),
          ttlMs: null,
          at: runtime.turn.now(),
          call: runtime.call.key,
        });
        return [written.ok, written.version];
      },
    }),
  ];
}
