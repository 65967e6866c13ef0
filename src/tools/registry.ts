import { ConfigError } from '../wire/errors.ts';
import { checkList } from '../wire/options.ts';
import { checkTool } from './define/define.ts';
import type { ToolDefinition, ToolView } from './define/definition.ts';
import { canonicalName } from './names.ts';
import type { PolicyGuard } from './policy/guard.ts';
import type { Policy } from './policy/policy.ts';

/** The tools of a runtime. Everything that runs in the runtime shares the definitions; {@link ForkTools} binds them to a caller. */
export class ToolRegistry {
  readonly #tools = new Map<string, ToolDefinition>();
  /** Names of pure tools by the policy that admits them. */
  #pure = new WeakMap<Policy, readonly string[]>();
  /** Names of tools by the policy that denies them. */
  #denied = new WeakMap<Policy, readonly string[]>();

  /** Throws {@link ConfigError} (`ERR_CONFIG`) when two tools have the same name, or one was not made by `defineTool`. */
  constructor(tools: readonly ToolDefinition[] = []) {
    checkList('tools', tools);
    for (const tool of tools) this.register(tool);
  }

  /**
   * Adds a tool for all later runs. It replaces no tool, with one exception: a tool of the host replaces a pure tool of its name,
   * whichever comes first, so that a mock can replace a pure tool. Throws as the constructor does.
   */
  register(tool: ToolDefinition): void {
    const taken = this.#tools.get(checkTool(tool).canonicalName);
    if (taken !== undefined && taken.where === tool.where) throw new ConfigError(`there is a tool ${taken.name} already`);
    if (taken?.where === 'host') return;
    this.#tools.set(tool.canonicalName, tool);
    this.#pure = new WeakMap();
    this.#denied = new WeakMap();
  }

  /** Names of the pure tools that a policy admits. They are the same for every run, so the registry computes them once. */
  pureNames(guard: PolicyGuard): readonly string[] {
    const { policy } = guard;
    if (policy === null) return [];
    let names = this.#pure.get(policy);
    if (names === undefined) {
      names = [...this.#tools.values()].filter((tool) => isPureFor(tool, [guard], false)).map((tool) => tool.canonicalName);
      this.#pure.set(policy, names);
    }
    return names;
  }

  /** Names of the tools that a guard denies, whatever its call limits. Computed once for each policy. */
  deniedNames(guard: PolicyGuard): readonly string[] {
    const { policy } = guard;
    if (policy === null) return [...this.#tools.keys()];
    let names = this.#denied.get(policy);
    if (names === undefined) {
      names = [...this.#tools.values()].filter((tool) => guard.denial(tool, false) !== null).map((tool) => tool.canonicalName);
      this.#denied.set(policy, names);
    }
    return names;
  }

  /** By any spelling of the name; undefined when there is none. */
  lookup(name: string): ToolDefinition | undefined {
    return this.#tools.get(canonicalName(name));
  }

  /** Canonical names, sorted. */
  names(): readonly string[] {
    return [...this.#tools.keys()].sort();
  }

  /** The tools of one fork. `own` are tools of that fork alone. Throws {@link ConfigError} when a name appears twice. */
  forFork(forkId: string, own?: readonly ToolDefinition[]): ForkTools {
    if (own === undefined) return new ForkTools(this, NO_TOOLS, forkId);
    const extra = new ToolRegistry(own);
    for (const name of extra.names())
      if (this.lookup(name)?.where === 'host') throw new ConfigError(`there is a tool ${name} already`);
    return new ForkTools(this, extra, forkId);
  }
}

/** The tools of a fork without any of its own. */
const NO_TOOLS = new ToolRegistry();

function isPureFor(tool: ToolDefinition, guards: readonly PolicyGuard[], own: boolean): boolean {
  return tool.where === 'isolate' && guards.every((guard) => guard.denial(tool, own) === null);
}

/**
 * The tools of one fork: the definitions of the registry, bound to that fork and to no other, so that a tool always receives its
 * immediate caller.
 */
export class ForkTools implements ToolView {
  readonly forkId: string;
  readonly #shared: ToolRegistry;
  readonly #own: ToolRegistry;

  /** Made by {@link ToolRegistry.forFork} and {@link bind}. */
  constructor(shared: ToolRegistry, own: ToolRegistry, forkId: string) {
    this.#shared = shared;
    this.#own = own;
    this.forkId = forkId;
    // Tools receive this object. It is frozen so that a tool cannot make it name another caller.
    Object.freeze(this);
  }

  lookup(name: string): ToolDefinition | undefined {
    return this.#own.lookup(name) ?? this.#shared.lookup(name);
  }

  isOwn(name: string): boolean {
    return this.#own.lookup(name) !== undefined;
  }

  names(): readonly string[] {
    return [...new Set([...this.#shared.names(), ...this.#own.names()])].sort();
  }

  /**
   * Names of the pure tools that every guard admits: a run may call them without asking the host. A call of any other pure tool
   * reaches the host, which refuses it.
   */
  pureNames([first, ...rest]: readonly PolicyGuard[]): readonly string[] {
    if (first === undefined) return [];
    const shared = this.#shared.pureNames(first).filter((name) => {
      const tool = this.lookup(name);
      return tool?.where === 'isolate' && (rest.length === 0 || isPureFor(tool, rest, false));
    });
    const own = this.#own.names().filter((name) => {
      const tool = this.#own.lookup(name);
      return tool !== undefined && !shared.includes(name) && isPureFor(tool, [first, ...rest], true);
    });
    return own.length === 0 ? shared : [...shared, ...own];
  }

  /** Names of the tools that any guard denies, whatever its call limits. */
  deniedNames(guards: readonly PolicyGuard[]): readonly string[] {
    const shared = guards.flatMap((guard) => this.#shared.deniedNames(guard)).filter((name) => !this.isOwn(name));
    const own = this.#own.names().filter((name) => {
      const tool = this.#own.lookup(name);
      return tool !== undefined && guards.some((guard) => guard.denial(tool, true) !== null);
    });
    return [...new Set([...shared, ...own])];
  }

  /** The same tools for a fork of this fork. */
  bind(forkId: string): ForkTools {
    return new ForkTools(this.#shared, this.#own, forkId);
  }
}
