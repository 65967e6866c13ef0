import { defineTool, type ToolDefinition, ToolError } from '../src/tools/index.ts';
import { decode, encode } from '../src/wire/codec.ts';
import { NS_CODES } from '../src/wire/codes.ts';
import { ConfigError } from '../src/wire/errors.ts';
import { type ScopeOf, sessionScope } from './scope.ts';
import { MemoryStorage } from './storage/memory.ts';
import type { VersionedStorage } from './storage/port.ts';

/** What {@link scratchTools} keeps values in, and for how long. */
export interface ScratchToolsOptions {
  /** A {@link MemoryStorage} when absent. The clock of the turn decides what has expired. */
  readonly storage?: VersionedStorage;
  /** {@link sessionScope} when absent. */
  readonly scope?: ScopeOf;
  /** Longest time to live, seconds; one hour when absent. */
  readonly maxTtlSeconds?: number;
}

const MAX_TTL_SECONDS = 3600;
const DEFAULT_TTL_SECONDS = 300;

/**
 * `tool.scratch.Get(key)` and `tool.scratch.PutCAS(key, version, value, ttlSeconds)`: values for the next turns of the same
 * session, so that they need not go through OUTPUT (AL1-2.11-1). They expire. Throws {@link ConfigError} (`ERR_CONFIG`).
 */
export function scratchTools(options: ScratchToolsOptions = {}): readonly ToolDefinition[] {
  const storage = options.storage ?? new MemoryStorage();
  const scope = options.scope ?? sessionScope;
  const most = options.maxTtlSeconds ?? MAX_TTL_SECONDS;
  if (!Number.isSafeInteger(most) || most < 1)
    throw new ConfigError(`maxTtlSeconds must be a whole number from 1, got ${String(most)}`);
  return [
    defineTool({
      name: 'tool.scratch.Get',
      description: 'What this session keeps under a key, as [value, version]; [nil, 0] when there is nothing or it has expired.',
      example: 'tool.scratch.Get("draft")',
      args: [{ name: 'key', type: 'string', description: 'the key it is kept under' }],
      returns: 'list [value, version]',
      effects: 'read',
      capabilities: ['scratch:read'],
      async run({ key }, runtime) {
        const found = await storage.get(scope(runtime), key, runtime.turn.now());
        return found === null ? [null, 0] : [decode(found.value), found.version];
      },
    }),
    defineTool({
      name: 'tool.scratch.PutCAS',
      description: `Keeps a value for some seconds (${most} at most) if the version is still the one given; 0 for a new key.`,
      example: 'tool.scratch.PutCAS("draft", 0, "first words", 60)',
      args: [
        { name: 'key', type: 'string', description: 'the key to keep it under' },
        { name: 'version', type: 'int', description: 'the version that Get gave' },
        { name: 'value', required: false, description: 'what to keep' },
        {
          name: 'ttlSeconds',
          type: 'number',
          default: Math.min(DEFAULT_TTL_SECONDS, most),
          description: 'how long to keep it, seconds',
        },
      ],
      returns: 'list [ok, version]: the version that is kept now',
      effects: 'write',
      capabilities: ['scratch:write'],
      async run({ key, version, value, ttlSeconds }, runtime) {
        if (!(ttlSeconds > 0 && ttlSeconds <= most))
          throw new ToolError(NS_CODES.ArgMismatch, `ttlSeconds must be above 0 and at most ${most}, got ${ttlSeconds}`);
        const written = await storage.cas({
          scope: scope(runtime),
          key,
          expected: version,
          value: encode(value),
          ttlMs: ttlSeconds * 1000,
          at: runtime.turn.now(),
        });
        return [written.ok, written.version];
      },
    }),
  ];
}
