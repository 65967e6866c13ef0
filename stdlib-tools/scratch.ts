import { defineStandard, type ToolDefinition, ToolError } from '../src/tools/index.ts';
import { NS_CODES } from '../src/wire/codes.ts';
import { wholeNumber } from '../src/wire/options.ts';
import { grouped } from '../src/wire/text/grouped.ts';
import { type ScopeOf, sessionScope } from './scope.ts';
import { MemoryStorage } from './storage/sqlite.ts';
import { readValue, storedValue, type VersionedStorage } from './storage/versioned.ts';

/** Options of {@link scratchTools}. */
export interface ScratchToolsOptions {
  /** A {@link MemoryStorage} if absent. Values expire by the clock of the turn. */
  readonly storage?: VersionedStorage;
  /** {@link sessionScope} if absent. */
  readonly scope?: ScopeOf;
  /** Maximum time to live, in seconds; one hour if absent. */
  readonly maxTtlSeconds?: number;
}

const MAX_TTL_SECONDS = 3600;
const DEFAULT_TTL_SECONDS = 300;

/**
 * `tool.scratch.Get(key)` and `tool.scratch.PutCAS(key, version, value, ttlSeconds)`: values that expire, for the next turns of
 * the same session. They need not go through OUTPUT. Throws `ConfigError` (`ERR_CONFIG`).
 */
export function scratchTools(options: ScratchToolsOptions = {}): readonly ToolDefinition[] {
  const storage = options.storage ?? new MemoryStorage();
  const scope = options.scope ?? sessionScope;
  const most = options.maxTtlSeconds ?? MAX_TTL_SECONDS;
  wholeNumber(1)('maxTtlSeconds', most);
  return [
    defineStandard({
      name: 'tool.scratch.Get',
      description: 'Reads a value of this session as [value, version]; [nil, 0] if there is none or it has expired.',
      example: 'tool.scratch.Get("draft")',
      args: [{ name: 'key', type: 'string', description: 'the key of the value' }],
      returns: 'list [value, version]',
      effects: 'read',
      capabilities: ['scratch:read'],
      async run({ key }, runtime) {
        const found = await storage.get(scope(runtime), key, runtime.turn.now());
        return found === null ? [null, 0] : [readValue(found.value, runtime), found.version];
      },
    }),
    defineStandard({
      name: 'tool.scratch.PutCAS',
      description: `Stores a value for up to ${grouped(most)} seconds if its version has not changed. Returns [ok, version].`,
      example: 'tool.scratch.PutCAS("draft", 0, "first words", 60)',
      args: [
        { name: 'key', type: 'string', description: 'the key to store it under' },
        { name: 'version', type: 'int', description: 'the version that Get returned; 0 for a new key' },
        { name: 'value', required: false, description: 'the value to store' },
        {
          name: 'ttlSeconds',
          type: 'number',
          default: Math.min(DEFAULT_TTL_SECONDS, most),
          description: 'seconds until the value expires',
        },
      ],
      returns: 'list [ok, version] with the version that is stored now',
      effects: 'write',
      idempotent: true,
      capabilities: ['scratch:write'],
      orderedMaps: true,
      async run({ key, version, value, ttlSeconds }, runtime) {
        if (!(ttlSeconds > 0 && ttlSeconds <= most))
          throw new ToolError(NS_CODES.ArgMismatch, `ttlSeconds must be above 0 and at most ${most}, got ${ttlSeconds}`);
        const written = await storage.cas({
          scope: scope(runtime),
          key,
          expected: version,
          value: storedValue(value, runtime),
          ttlMs: ttlSeconds * 1000,
          at: runtime.turn.now(),
          call: runtime.call.key,
        });
        return [written.ok, written.version];
      },
    }),
  ];
}
