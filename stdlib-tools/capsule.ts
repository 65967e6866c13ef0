import { defineTool, type ToolDefinition } from '../src/tools/index.ts';
import { ConfigError } from '../src/wire/errors.ts';

/** A named text with a version: a specification, a prompt, a card. */
export interface Capsule {
  /** For instance `capsule/askloop`. */
  readonly id: string;
  readonly version: string;
  readonly content: string;
  /** Further facts, as text. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Where capsules come from. */
export interface CapsuleStore {
  /** Ids in order, each once. */
  list(): Promise<readonly string[]>;
  /** Null when there is none; without a version, the newest. */
  read(id: string, version: string | null): Promise<Capsule | null>;
}

/** Capsules of a list that was given once; of several versions of an id, the last one is the newest. */
export class MemoryCapsules implements CapsuleStore {
  readonly #versions: ReadonlyMap<string, readonly Capsule[]>;

  /** Throws {@link ConfigError} (`ERR_CONFIG`) for an id or a version that is empty or has `@`, and for the same one twice. */
  constructor(capsules: readonly Capsule[]) {
    const names = new Set<string>();
    for (const { id, version } of capsules) {
      const name = `${id}@${version}`;
      if (id === '' || version === '' || name.split('@').length !== 2)
        throw new ConfigError(`the capsule ${JSON.stringify(name)} needs an id and a version, both without @`);
      if (names.has(name)) throw new ConfigError(`there is a capsule ${name} already`);
      names.add(name);
    }
    this.#versions = Map.groupBy(capsules, ({ id }) => id);
  }

  async list(): Promise<readonly string[]> {
    return [...this.#versions.keys()].sort();
  }

  async read(id: string, version: string | null): Promise<Capsule | null> {
    const versions = this.#versions.get(id) ?? [];
    return (version === null ? versions.at(-1) : versions.find((each) => each.version === version)) ?? null;
  }
}

/** `tool.capsule.List()` and `tool.capsule.Read(id)`, where the id may be `id@version` (AL1-6-2). */
export function capsuleTools(store: CapsuleStore): readonly ToolDefinition[] {
  return [
    defineTool({
      name: 'tool.capsule.List',
      description: 'The ids of all capsules.',
      example: 'tool.capsule.List()',
      returns: 'list of texts',
      effects: 'read',
      capabilities: ['capsule:read'],
      run: () => store.list(),
    }),
    defineTool({
      name: 'tool.capsule.Read',
      description: 'A capsule by its id, or by id@version, as a map with id, version, content and metadata; nil when unknown.',
      example: 'tool.capsule.Read("capsule/askloop")',
      args: [{ name: 'id', type: 'string', description: 'the id, with or without @version' }],
      returns: 'map, or nil',
      effects: 'read',
      capabilities: ['capsule:read'],
      async run({ id: name }) {
        const at = name.indexOf('@');
        const found = await (at < 0 ? store.read(name, null) : store.read(name.slice(0, at), name.slice(at + 1)));
        if (found === null) return null;
        const { id, version, content, metadata = {} } = found;
        return { id, version, content, metadata: { ...metadata } };
      },
    }),
  ];
}
