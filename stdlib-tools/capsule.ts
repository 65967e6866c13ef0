import { type CapsuleFields, capsule, capsuleFields, type StoredCapsule } from '../src/context/index.ts';
import { defineStandard, type ToolDefinition, ToolError, type ToolRuntime } from '../src/tools/index.ts';
import { decode, encode } from '../src/wire/codec.ts';
import { NS_CODES } from '../src/wire/codes.ts';
import type { VersionedStorage } from './storage/versioned.ts';

/** Options of {@link capsuleTools}. */
export interface CapsuleToolsOptions {
  /** Keeps added capsules for every user of the storage. If absent, the interpreter keeps them until it ends. */
  readonly storage?: VersionedStorage;
}

/**
 * `tool.capsule.List()`, `tool.capsule.Read(id)`, where the id may be `id@version`, and for trusted programs
 * `tool.capsule.Add(capsule)`. They read the interpreter's own capsules (`stores.capsules`) first, then those of the storage. If
 * the interpreter has a capsule of a name, its newest version counts as the newest.
 */
export function capsuleTools({ storage }: CapsuleToolsOptions = {}): readonly ToolDefinition[] {
  const kept = storage === undefined ? NOTHING_KEPT : new KeptCapsules(storage);
  return [
    defineStandard({
      name: 'tool.capsule.List',
      description: 'Lists the ids of all capsules.',
      example: 'tool.capsule.List()',
      returns: 'list of strings',
      effects: 'read',
      capabilities: ['capsule:read'],
      async run(_, { stores, turn }) {
        const ids = [...stores.capsules.capsules().map(({ id }) => id), ...(await kept.ids(turn.now()))];
        return [...new Set(ids.map((id) => nameAndVersion(id).name))].sort();
      },
    }),
    defineStandard({
      name: 'tool.capsule.Read',
      description: 'Reads a capsule as a map with id, version, content and metadata; nil if there is none.',
      example: 'tool.capsule.Read("capsule/askloop")',
      args: [{ name: 'id', type: 'string', description: 'the id, or id@version' }],
      returns: 'map, or nil',
      effects: 'read',
      capabilities: ['capsule:read'],
      async run({ id }, runtime) {
        const { name, version } = nameAndVersion(id);
        const found = own(runtime, name, version) ?? (await kept.find(name, version, runtime.turn.now()));
        if (found === undefined) return null;
        const { content, description, mime, sha256 } = found;
        return { id: found.name, version: String(found.version), content, metadata: { description, mime, sha256 } };
      },
    }),
    defineStandard({
      name: 'tool.capsule.Add',
      description: 'Adds a capsule. Fails with code 42 if there is one with this name and version.',
      example:
        'tool.capsule.Add({"name": "capsule/rules", "version": 1, "description": "house rules", "content": "Answer briefly."})',
      args: [
        {
          name: 'capsule',
          type: 'map',
          description: 'a map with name (capsule/…), version (from 1), description and content; mime and priority are optional',
        },
      ],
      returns: 'true',
      requiresTrust: true,
      capabilities: ['capsule:write'],
      async run({ capsule: given }, runtime) {
        const fields = capsuleFields(given);
        const { id, name, version } = capsule(fields);
        if (runtime.stores.capsules.get(name, version) !== undefined) throw taken(id);
        if (storage === undefined) runtime.adminStores().capsules.register(fields);
        else if (!(await keep(storage, id, fields, runtime.turn.now()))) throw taken(id);
        return true;
      },
    }),
  ];
}

/** No scope of `scope.ts` has this name, so only `tool.capsule.Add` writes here. */
const SCOPE = 'capsules';

interface Kept {
  ids(at: number): Promise<readonly string[]>;
  find(name: string, version: string | null, at: number): Promise<StoredCapsule | undefined>;
}

const NOTHING_KEPT: Kept = { ids: async () => [], find: async () => undefined };

class KeptCapsules implements Kept {
  readonly #storage: VersionedStorage;

  constructor(storage: VersionedStorage) {
    this.#storage = storage;
  }

  ids(at: number): Promise<readonly string[]> {
    return this.#storage.keys(SCOPE, at);
  }

  async find(name: string, version: string | null, at: number): Promise<StoredCapsule | undefined> {
    const wanted = version ?? (await this.#latest(name, at));
    const found = await this.#storage.get(SCOPE, `${name}@${wanted}`, at);
    return found === null ? undefined : capsule(capsuleFields(decode(found.value)));
  }

  async #latest(name: string, at: number): Promise<number> {
    const known = (await this.ids(at)).map(nameAndVersion).filter((each) => each.name === name);
    return Math.max(0, ...known.map(({ version }) => Number(version)));
  }
}

async function keep(storage: VersionedStorage, id: string, fields: CapsuleFields, at: number): Promise<boolean> {
  const { ok } = await storage.cas({ scope: SCOPE, key: id, expected: 0, value: encode(fields), ttlMs: null, at });
  return ok;
}

/** A version must be written as the capsule writes it: `01` and `x` name no version. */
function own({ stores }: ToolRuntime, name: string, version: string | null): StoredCapsule | undefined {
  if (version === null) return stores.capsules.latest(name);
  const found = stores.capsules.get(name, Number(version));
  return found?.id === `${name}@${version}` ? found : undefined;
}

function nameAndVersion(id: string): { readonly name: string; readonly version: string | null } {
  const at = id.indexOf('@');
  return at < 0 ? { name: id, version: null } : { name: id.slice(0, at), version: id.slice(at + 1) };
}

function taken(id: string): ToolError {
  return new ToolError(NS_CODES.Duplicate, `there is a capsule '${id}' already; raise its version`);
}
