import type { Environment, Procedure } from '../../grammar/index.ts';
import { checkEnvironment } from '../runtime/index.ts';
import {
  type CatalogueTool,
  type Policy,
  PolicyGuard,
  type ToolDefinition,
  ToolRegistry,
  toolCatalogue,
} from '../tools/index.ts';
import type { Surroundings } from './diagnose.ts';
import { type Placed, SourceDocument } from './document.ts';

/** The tools and the policy of the programs in a workspace. */
export interface Tooling {
  readonly tools: readonly ToolDefinition[];
  readonly policy: Policy;
  /** Whether there are no other tools, so that the call of an unknown one is an error. */
  readonly complete: boolean;
  /** Whether calls that the policy denies are errors. */
  readonly denies: boolean;
}

/** A procedure and the place that defines it. */
export interface Definition {
  readonly document: SourceDocument;
  readonly placed: Placed;
  readonly procedure: Procedure;
}

/** The documents of an editor and of the folders that it shows, with the tools that their programs may call. */
export class Workspace {
  /** Open documents hide the files that they were read from. */
  readonly #open = new Map<string, SourceDocument>();
  readonly #files = new Map<string, SourceDocument>();
  #tooling: Tooling;
  #registry: ToolRegistry;
  #catalogue: readonly CatalogueTool[];
  /** Counts changes of tools and of procedures' forms: findings of other documents depend on nothing else. */
  #version = 0;
  readonly #environments = new Map<string, Environment>();

  constructor(tooling: Tooling) {
    this.#tooling = tooling;
    this.#registry = new ToolRegistry(tooling.tools);
    this.#catalogue = toolCatalogue(tooling.tools);
  }

  get tooling(): Tooling {
    return this.#tooling;
  }

  set tooling(tooling: Tooling) {
    this.#tooling = tooling;
    this.#registry = new ToolRegistry(tooling.tools);
    this.#catalogue = toolCatalogue(tooling.tools);
    this.#changed();
  }

  /** Every document, open ones first. */
  get documents(): readonly SourceDocument[] {
    return [...this.#open.values(), ...[...this.#files].flatMap(([uri, file]) => (this.#open.has(uri) ? [] : [file]))];
  }

  get openDocuments(): readonly SourceDocument[] {
    return [...this.#open.values()];
  }

  document(uri: string): SourceDocument | undefined {
    return this.#open.get(uri) ?? this.#files.get(uri);
  }

  /** Takes a version of an open document. Returns whether findings of other documents may change with it. */
  edit(uri: string, text: string): boolean {
    const before = this.document(uri);
    const document = new SourceDocument(uri, text, before);
    this.#open.set(uri, document);
    return this.#compare(before, document);
  }

  /** Takes the text of a file, or forgets the file for null. Returns as {@link edit}. */
  file(uri: string, text: string | null): boolean {
    const before = this.#files.get(uri);
    if (text === null) this.#files.delete(uri);
    else this.#files.set(uri, new SourceDocument(uri, text, before));
    return !this.#open.has(uri) && this.#compare(before, this.#files.get(uri));
  }

  close(uri: string): boolean {
    const before = this.#open.get(uri);
    this.#open.delete(uri);
    return this.#compare(before, this.#files.get(uri));
  }

  /** What a document sees beside itself. */
  surroundings(document: SourceDocument): Surroundings {
    const called = calledBy(document);
    const key = called.join(' ');
    let environment = this.#environments.get(key);
    if (environment === undefined) {
      const { policy, complete, denies } = this.#tooling;
      const options = { tools: complete ? ('registered' as const) : ('any' as const), policy: denies };
      environment = checkEnvironment(options, this.#registry, policy, called);
      this.#environments.set(key, environment);
    }
    const others = this.documents.filter(({ uri }) => uri !== document.uri);
    const procedures = Map.groupBy(
      others.flatMap((other) => other.procedures.map(({ procedure }) => procedure)),
      ({ name }) => name.name,
    );
    return { key: `${this.#version} ${key}`, environment, procedures };
  }

  tool(canonicalName: string): CatalogueTool | undefined {
    const name = this.#registry.lookup(canonicalName)?.name;
    return name === undefined ? undefined : this.#catalogue.find((tool) => tool.name === name);
  }

  /** The tools that programs may call; `denied` says why the policy refuses one. */
  tools(): readonly { readonly tool: CatalogueTool; readonly denied: string | null }[] {
    const guard = new PolicyGuard(this.#tooling.policy);
    return this.#catalogue.map((tool, index) => {
      const definition = this.#tooling.tools[index];
      return { tool, denied: definition === undefined ? null : (guard.denial(definition, false)?.reason ?? null) };
    });
  }

  /** Where a procedure is defined, as a call in a document finds it: in the document, else in a file of its folder, else anywhere. */
  definition(name: string, from: SourceDocument): Definition | undefined {
    const folder = from.uri.slice(0, from.uri.lastIndexOf('/') + 1);
    const near = (uri: string): number => (uri === from.uri ? 0 : uri.slice(0, uri.lastIndexOf('/') + 1) === folder ? 1 : 2);
    return this.documents
      .flatMap((document) =>
        document.procedures.flatMap((found): Definition[] =>
          found.procedure.name.name === name ? [{ document, ...found }] : [],
        ),
      )
      .sort((a, b) => near(a.document.uri) - near(b.document.uri) || (a.document.uri < b.document.uri ? -1 : 1))[0];
  }

  #compare(before: SourceDocument | undefined, after: SourceDocument | undefined): boolean {
    if (formsOf(before) === formsOf(after)) return false;
    this.#changed();
    return true;
  }

  #changed(): void {
    this.#version += 1;
    this.#environments.clear();
  }
}

/** The procedures of a document with their numbers of parameters: all that other documents depend on. */
function formsOf(document: SourceDocument | undefined): string {
  const procedures = document?.procedures.map(({ procedure }) => procedure) ?? [];
  return procedures.map(({ name, needs, optional }) => `${name.name}/${needs.length}/${optional.length}`).join(' ');
}

/** Canonical names of the tools that a document calls, sorted. */
function calledBy({ pieces }: SourceDocument): readonly string[] {
  const uses = pieces.flatMap(({ piece }) => piece.names.uses);
  return [...new Set(uses.flatMap(({ kind, name }) => (kind === 'tool' ? [name] : [])))].sort();
}
