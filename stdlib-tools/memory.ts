import { defineTool, type ToolDefinition } from '../src/tools/index.ts';
import { decode, encode } from '../src/wire/codec.ts';
import { actorScope, type ScopeOf } from './scope.ts';
import { MemoryStorage } from './storage/memory.ts';
import type { VersionedStorage } from './storage/port.ts';

/** What {@link memoryTools} keeps values in. */
export interface MemoryToolsOptions {
  /** A {@link MemoryStorage} when absent. */
  readonly storage?: VersionedStorage;
  /** {@link actorScope} when absent. */
  readonly scope?: ScopeOf;
}

/**
 * `tool.memory.Get(path)` and `tool.memory.CAS(path, version, value)`: values that outlive a turn. There is no blind write:
 * whoever writes says which version was read (AL1-2.10-1). They need the grants `memory:read` and `memory:write`.
 */
export function memoryTools(options: MemoryToolsOptions = {}): readonly ToolDefinition[] {
  const storage = options.storage ?? new MemoryStorage();
  const scope = options.scope ?? actorScope;
  return [
    defineTool({
      name: 'tool.memory.Get',
      description: 'What is stored at a path, as [value, version]; [nil, 0] when nothing is.',
      example: 'tool.memory.Get("/plans/today")',
      args: [{ name: 'path', type: 'string', description: 'the name it is stored under, such as "/notes/todo"' }],
      returns: 'list [value, version]',
      effects: 'read',
      capabilities: ['memory:read'],
      async run({ path }, runtime) {
        const found = await storage.get(scope(runtime), path, runtime.turn.now());
        return found === null ? [null, 0] : [decode(found.value), found.version];
      },
    }),
    defineTool({
      name: 'tool.memory.CAS',
      description: 'Writes a value if the version at the path is still the one given; 0 for a path with nothing stored.',
      example: 'tool.memory.CAS("/plans/today", 0, ["read", "write"])',
      args: [
        { name: 'path', type: 'string', description: 'the name to store it under' },
        { name: 'version', type: 'int', description: 'the version that Get gave' },
        { name: 'value', required: false, description: 'what to store' },
      ],
      returns: 'list [ok, version]: the version that is stored now',
      effects: 'write',
      capabilities: ['memory:write'],
      async run({ path, version, value }, runtime) {
        const written = await storage.cas({
          scope: scope(runtime),
          key: path,
          expected: version,
          value: encode(value),
          ttlMs: null,
          at: runtime.turn.now(),
        });
        return [written.ok, written.version];
      },
    }),
  ];
}
