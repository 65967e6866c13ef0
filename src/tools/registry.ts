import { ConfigError } from '../wire/errors.ts';
import { checkList } from '../wire/options.ts';
import { checkTool, type ToolDefinition } from './define.ts';
import { canonicalName, nearest } from './names.ts';

/** The tools of a runtime. Definitions are shared by everything that runs in it; who calls is the affair of a {@link ToolView}. */
export class ToolRegistry {
  readonly #tools = new Map<string, ToolDefinition>();

  /** Throws {@link ConfigError} (`ERR_CONFIG`) when two have the same name, or one was not made by `defineTool`. */
  constructor(tools: readonly ToolDefinition[] = []) {
    checkList('tools', tools);
    for (const tool of tools) this.register(tool);
  }

  /** Adds a tool for everything that runs from now on; nothing is replaced. Throws as the constructor does. */
  register(tool: ToolDefinition): void {
    const taken = this.#tools.get(checkTool(tool).canonicalName);
    if (taken !== undefined) throw new ConfigError(`there is a tool ${taken.name} already`);
    this.#tools.set(tool.canonicalName, tool);
  }

  /** By any spelling of the name; undefined when there is none. */
  lookup(name: string): ToolDefinition | undefined {
    return this.#tools.get(canonicalName(name));
  }

  /** Canonical names, sorted. */
  names(): readonly string[] {
    return [...this.#tools.keys()].sort();
  }

  /** A view for one fork, see {@link ToolView}. `own` are tools of that fork alone; throws {@link ConfigError} on a name twice. */
  view(forkId: string, own: readonly ToolDefinition[] = []): ToolView {
    const extra = new ToolRegistry(own);
    for (const name of extra.names())
      if (this.lookup(name) !== undefined) throw new ConfigError(`there is a tool ${name} already`);
    return new ToolView(this, extra, forkId);
  }
}

/**
 * A fork's view of the registry (seed 004, section 3): the same definitions, bound to that fork and to no other, so that
 * a tool always receives its immediate caller.
 */
export class ToolView {
  readonly forkId: string;
  readonly #shared: ToolRegistry;
  readonly #own: ToolRegistry;

  /** Views are made by {@link ToolRegistry.view} and {@link bind}. */
  constructor(shared: ToolRegistry, own: ToolRegistry, forkId: string) {
    this.#shared = shared;
    this.#own = own;
    this.forkId = forkId;
  }

  /** By any spelling of the name; undefined when there is none. */
  lookup(name: string): ToolDefinition | undefined {
    return this.#own.lookup(name) ?? this.#shared.lookup(name);
  }

  /** True for a tool that the host gave to this fork alone. */
  isOwn(name: string): boolean {
    return this.#own.lookup(name) !== undefined;
  }

  /** Canonical names, sorted. */
  names(): readonly string[] {
    return [...this.#shared.names(), ...this.#own.names()].sort();
  }

  /** The name that may have been meant instead of an unknown one, or null. */
  nearest(name: string): string | null {
    return nearest(canonicalName(name), this.names());
  }

  /** The same view for a fork of this fork. */
  bind(forkId: string): ToolView {
    return new ToolView(this.#shared, this.#own, forkId);
  }
}
