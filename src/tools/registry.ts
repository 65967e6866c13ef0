import { ConfigError } from '../wire/errors.ts';
import { checkList } from '../wire/options.ts';
import { checkTool, type ToolDefinition } from './define/define.ts';
import { canonicalName, toolAdvice } from './names.ts';
import type { Policy, PolicyGuard } from './policy/policy.ts';

/** The tools of a runtime. Definitions are shared by everything that runs in it; who calls is the affair of a {@link ToolView}. */
export class ToolRegistry {
  readonly #tools = new Map<string, ToolDefinition>();
  /** Pure tools by the policy that admits them. */
  #pure = new WeakMap<Policy, readonly string[]>();

  /** Throws {@link ConfigError} (`ERR_CONFIG`) when two have the same name, or one was not made by `defineTool`. */
  constructor(tools: readonly ToolDefinition[] = []) {
    checkList('tools', tools);
    for (const tool of tools) this.register(tool);
  }

  /**
   * Adds a tool for everything that runs from now on; nothing is replaced, but that a tool of the host takes the place of a
   * pure one of its name, whichever came first: so can a mock stand in for it. Throws as the constructor does.
   */
  register(tool: ToolDefinition): void {
    const taken = this.#tools.get(checkTool(tool).canonicalName);
    if (taken !== undefined && taken.where === tool.where) throw new ConfigError(`there is a tool ${taken.name} already`);
    if (taken?.where === 'host') return;
    this.#tools.set(tool.canonicalName, tool);
    this.#pure = new WeakMap();
  }

  /** Names of the pure tools that a policy admits. They are the same for every run, so they are worked out once. */
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
      if (this.lookup(name)?.where === 'host') throw new ConfigError(`there is a tool ${name} already`);
    return new ToolView(this, extra, forkId);
  }
}

function isPureFor(tool: ToolDefinition, guards: readonly PolicyGuard[], own: boolean): boolean {
  return tool.where === 'isolate' && guards.every((guard) => guard.explain(tool, own) === null);
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
    // Tools are handed the view: what it says of their caller stays true.
    Object.freeze(this);
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
    return [...new Set([...this.#shared.names(), ...this.#own.names()])].sort();
  }

  /**
   * Names of the pure tools that every guard admits: a run may call them without asking the host. What is not among them is
   * asked for as any other tool, and refused or answered here.
   */
  pureNames([first, ...rest]: readonly PolicyGuard[]): readonly string[] {
    if (first === undefined) return [];
    const shared = this.#shared.pureNames(first).filter((name) => {
      const tool = this.#own.lookup(name) ?? this.#shared.lookup(name);
      return tool?.where === 'isolate' && (rest.length === 0 || isPureFor(tool, rest, false));
    });
    const own = this.#own.names().filter((name) => {
      const tool = this.#own.lookup(name);
      return tool !== undefined && !shared.includes(name) && isPureFor(tool, [first, ...rest], true);
    });
    return own.length === 0 ? shared : [...shared, ...own];
  }

  /** What to write instead of a name that no tool has; undefined where nothing is like it. */
  advice(name: string): string | undefined {
    return toolAdvice(name, this.names());
  }

  /** The same view for a fork of this fork. */
  bind(forkId: string): ToolView {
    return new ToolView(this.#shared, this.#own, forkId);
  }
}
