import { createHash } from 'node:crypto';
import { ConfigError } from '../../wire/errors.ts';
import { checkList, listOf } from '../../wire/options.ts';
import { integer, readFields, text } from './fields.ts';

/** A named, versioned text, such as a specification or a prompt. */
export interface StoredCapsule {
  /** `<name>@<version>`. */
  readonly id: string;
  /** `capsule/`, then lower-case letters, digits, `_` and `-`. */
  readonly name: string;
  /** From 1. */
  readonly version: number;
  /** What the capsule is for, in a sentence. */
  readonly description: string;
  /** Media type of the content, such as `text/markdown`. */
  readonly mime: string;
  /** The text. */
  readonly content: string;
  /** SHA-256 of the content in lower-case hexadecimal. */
  readonly sha256: string;
  /** Bytes of the content. */
  readonly size: number;
  /** {@link CapsuleReader.capsules} lists low numbers first. */
  readonly priority: number;
}

/** The fields that a capsule is made from. */
export interface CapsuleFields {
  /** `capsule/`, then 1 to 64 lower-case letters, digits, `_` and `-`. */
  readonly name: string;
  /** A whole number from 1. */
  readonly version: number;
  /** What the capsule is for, in a sentence. */
  readonly description: string;
  /** The text, at most 1 MiB of UTF-8. */
  readonly content: string;
  /** Default `text/markdown`. */
  readonly mime?: string;
  /** Default 100. */
  readonly priority?: number;
}

/** Finds capsules in layers. */
export interface CapsuleReader {
  /** From the first layer that has it. */
  get(name: string, version: number): StoredCapsule | undefined;
  /** The highest version of the first layer that knows the name. */
  latest(name: string): StoredCapsule | undefined;
  /** Every capsule that {@link get} finds, by priority, then by name and version. */
  capsules(): readonly StoredCapsule[];
}

/** Most bytes of one capsule's content. */
const MAX_CONTENT = 1024 * 1024;
const MAX_CAPSULES = 10_000;
const NAME = /^capsule\/[a-z0-9_-]{1,64}$/;

const READERS = { name: text, version: integer, description: text, content: text, mime: text, priority: integer };
const REQUIRED = ['name', 'version', 'description', 'content'] as const;

/**
 * Reads the fields of a capsule from a script or a file; numbers may be text. Throws {@link ConfigError} (`ERR_CONFIG`) that
 * lists every unknown, missing and invalid field.
 */
export function capsuleFields(given: unknown): CapsuleFields {
  // `readFields` has read every field with its reader.
  return readFields('the capsule', given, READERS, REQUIRED) as unknown as CapsuleFields;
}

/** Checks and freezes a capsule. Throws {@link ConfigError} (`ERR_CONFIG`) that lists every problem. */
export function capsule(fields: CapsuleFields): StoredCapsule {
  const { name, version, description, content, mime = 'text/markdown', priority = 100 } = fields;
  const problems: string[] = [];
  if (typeof name !== 'string' || !NAME.test(name)) problems.push("name must be 'capsule/' and up to 64 of a-z, 0-9, _ and -");
  if (!Number.isSafeInteger(version) || version < 1) problems.push('version must be a whole number from 1');
  if (typeof description !== 'string' || description.trim() === '') problems.push('description must be a text that is not empty');
  if (typeof content !== 'string') problems.push('content must be a text');
  else if (Buffer.byteLength(content) > MAX_CONTENT) problems.push(`content must have at most ${MAX_CONTENT} bytes`);
  if (typeof mime !== 'string' || mime === '') problems.push('mime must be a text that is not empty');
  if (!Number.isSafeInteger(priority)) problems.push('priority must be a whole number');
  if (problems.length > 0) throw new ConfigError(`a capsule cannot be made: ${problems.join('; ')}`);
  const size = Buffer.byteLength(content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  return Object.freeze({ id: `${name}@${version}`, name, version, description, mime, content, sha256, size, priority });
}

const checkLayers = listOf(checkList);

/**
 * The capsules of a root interpreter, shared by all its forks: one writable layer in front of read-only layers. The standard
 * tools `tool.capsule.*` read from it.
 */
export class CapsuleLayers implements CapsuleReader {
  readonly #own = new Map<string, StoredCapsule>();
  readonly #layers: readonly ReadonlyMap<string, StoredCapsule>[];

  /** `readOnly` lists the read-only layers, the nearest first. Throws {@link ConfigError} for an id that occurs twice in one layer. */
  constructor(readOnly: readonly (readonly CapsuleFields[])[] = []) {
    checkLayers('the read-only layers', readOnly);
    this.#layers = [this.#own, ...readOnly.map(layerOf)];
  }

  /**
   * Adds a capsule to the writable layer, which hides those of other layers. Throws {@link ConfigError} for invalid fields and for an id
   * that the layer has.
   */
  register(fields: CapsuleFields): StoredCapsule {
    const made = capsule(fields);
    if (this.#own.has(made.id)) throw new ConfigError(`there is a capsule '${made.id}' already; raise its version`);
    if (this.#own.size >= MAX_CAPSULES) throw new ConfigError(`there are ${MAX_CAPSULES} capsules already`);
    this.#own.set(made.id, made);
    return made;
  }

  /** Removes a capsule from the writable layer; false when the layer does not have the id. */
  delete(id: string): boolean {
    return this.#own.delete(id);
  }

  get(name: string, version: number): StoredCapsule | undefined {
    return this.#find(`${name}@${version}`);
  }

  latest(name: string): StoredCapsule | undefined {
    for (const layer of this.#layers) {
      const known = [...layer.values()].filter((each) => each.name === name);
      if (known.length > 0) return known.reduce((best, each) => (each.version > best.version ? each : best));
    }
    return undefined;
  }

  capsules(): readonly StoredCapsule[] {
    const ids = new Set(this.#layers.flatMap((layer) => [...layer.keys()]));
    return [...ids].flatMap((id) => this.#find(id) ?? []).sort(inOrder);
  }

  #find(id: string): StoredCapsule | undefined {
    return this.#layers.find((layer) => layer.has(id))?.get(id);
  }
}

function layerOf(capsules: readonly CapsuleFields[]): ReadonlyMap<string, StoredCapsule> {
  const layer = new Map<string, StoredCapsule>();
  for (const fields of capsules) {
    const made = capsule(fields);
    if (layer.has(made.id)) throw new ConfigError(`there is a capsule '${made.id}' twice in one layer`);
    layer.set(made.id, made);
  }
  return layer;
}

function inOrder(left: StoredCapsule, right: StoredCapsule): number {
  if (left.priority !== right.priority) return left.priority - right.priority;
  if (left.name !== right.name) return left.name < right.name ? -1 : 1;
  return left.version - right.version;
}
