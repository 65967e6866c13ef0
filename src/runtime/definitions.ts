import type { LibraryEntry, LoadedLibrary } from '../tools/index.ts';
import { ConfigError } from '../wire/errors.ts';
import { checkTagged } from '../wire/foreign.ts';
import { checker, checkObject, required } from '../wire/options.ts';
import type { Source, TaggedJson } from '../wire/protocol.ts';
import type { Diagnostic, ParsedFile } from '../wire/sourcereports.ts';
import { checkSources } from './request.ts';
import { type SignedUnit, Signers, UnitError } from './signedunits.ts';
import { checkGlobalName } from './values.ts';

/** A library cannot be loaded. `diagnostics` holds every syntax error, and is empty for any other problem. */
export class LibraryError extends ConfigError {
  /** Every syntax error; empty for any other problem. */
  readonly diagnostics: readonly Diagnostic[];
  constructor(message: string, diagnostics: readonly Diagnostic[] = []) {
    super(message);
    this.diagnostics = diagnostics;
  }
}

/**
 * Procedures, event handlers and constants that a host supplies to a root, as plain JSON: a root that ran the set-up scripts exports
 * them, and other roots are made from them. The root's own definitions may not use their names.
 */
export interface SymbolTable {
  /** Definitions, in order. */
  readonly libraries: readonly Source[];
  /** Values by name, as tagged JSON. */
  readonly constants: Readonly<Record<string, TaggedJson>>;
}

interface Library extends LoadedLibrary {
  /** Frozen, because workers keep copies. */
  readonly source: Source;
  /** The signature of each of {@link procedures}: `name(a, [b])`. */
  readonly signatures: readonly string[];
}

/** The arguments of {@link Definitions}. */
export interface DefinitionsInit {
  readonly symbols: SymbolTable | undefined;
  /** Public keys: only units that one of them signed are loaded. Undefined: plain texts are loaded. */
  readonly signers: readonly string[] | undefined;
  /** Parses one source; rejects as the sandbox does. */
  readonly parse: (
    source: Source,
  ) => Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly files: readonly ParsedFile[] }>;
}

const checkSymbols = checker<SymbolTable>({ libraries: required(checkSources), constants: required(checkObject) });

/** The procedures, event handlers and constants of a root. Its forks share them by reference, so they see later changes. */
export class Definitions {
  readonly #init: DefinitionsInit;
  readonly #signers: Signers | null;
  readonly #given: readonly Source[] = [];
  readonly #givenConstants: ReadonlyMap<string, TaggedJson> = new Map();
  readonly #libraries: Library[] = [];
  readonly #constants = new Map<string, TaggedJson>();
  #sources = this.#given;
  #allConstants = this.#givenConstants;
  /** The host's libraries, parsed at the first search for a name. */
  #givenLibraries: Promise<readonly Library[]> | null = null;
  /** The last load. Loads run one after the other, so that they end in the order of the calls. */
  #loading: Promise<unknown> = Promise.resolve();

  /** Throws {@link ConfigError} (`ERR_CONFIG`) for symbols or signers of the wrong form. */
  constructor(init: DefinitionsInit) {
    const { symbols, signers } = init;
    this.#init = init;
    this.#signers = signers === undefined ? null : new Signers(signers);
    if (symbols === undefined) return;
    checkSymbols('symbols', symbols);
    this.#given = symbols.libraries.map(({ name, text }) => Object.freeze({ name, text }));
    this.#givenConstants = new Map(
      Object.entries(symbols.constants).map(([name, value]) => [
        checkGlobalName(name),
        checkTagged(`the constant '${name}'`, value),
      ]),
    );
    this.#sources = this.#given;
    this.#allConstants = this.#givenConstants;
  }

  /** Replaces the loaded library. Nothing changes when it fails. Rejects with {@link LibraryError} and {@link UnitError}. */
  load(given: string | SignedUnit, name: string | undefined): Promise<LoadedLibrary> {
    return this.#inOrder(async () => {
      const library = await this.#parse(this.#source(given, name ?? 'lib'));
      await this.#mustBeFree(library);
      this.#libraries.splice(0, this.#libraries.length, library);
      return this.#loaded(library);
    });
  }

  /** Adds a library. Rejects as {@link load}, and for a procedure that exists already. */
  append(given: string | SignedUnit, name: string | undefined): Promise<LoadedLibrary> {
    return this.#inOrder(async () => {
      const library = await this.#parse(this.#source(given, name ?? `lib${this.#libraries.length + 1}`));
      const taken = library.procedures.find((procedure) => this.procedures.includes(procedure));
      if (taken !== undefined) throw new LibraryError(`${library.source.name}: there is a procedure '${taken}' already`);
      await this.#mustBeFree(library);
      this.#libraries.push(library);
      return this.#loaded(library);
    });
  }

  /** Names of the loaded procedures, in the order of their libraries, without those that the host supplies. */
  get procedures(): readonly string[] {
    return this.#libraries.flatMap(({ procedures }) => procedures);
  }

  /** The loaded libraries, in order, without those that the host supplies. */
  get entries(): readonly LibraryEntry[] {
    return this.#libraries.map(({ source, signatures, metadata }) => ({
      name: source.name,
      signatures,
      description: metadata['description'] ?? '',
    }));
  }

  /** The signature of each procedure by its name, including the host's: `name(a, [b])`. Rejects as {@link load}. */
  async signatures(): Promise<ReadonlyMap<string, string>> {
    const all = [...(await this.#givenParsed()), ...this.#libraries];
    return new Map(
      all.flatMap(({ procedures, signatures }) => procedures.map((name, at) => [name, signatures[at] ?? name] as const)),
    );
  }

  /** The sources that every run starts with: the same list until something is loaded. */
  get sources(): readonly Source[] {
    return this.#sources;
  }

  /** The constants of every run: the same map until a constant is set. */
  get constants(): ReadonlyMap<string, TaggedJson> {
    return this.#allConstants;
  }

  /** Why a constant cannot have the name; null when it can. `redefine` allows the name of a constant that the root itself defined. */
  constantProblem(name: string, redefine: boolean): string | null {
    if (this.#givenConstants.has(name)) return `the host supplies a constant '${name}'`;
    if (this.#constants.has(name) && !redefine) return `there is a constant '${name}' already`;
    return this.procedures.includes(name) ? `there is a procedure '${name}'` : null;
  }

  /** Sets a constant. The caller has checked the name by {@link constantProblem}. */
  setConstant(name: string, value: TaggedJson): void {
    this.#constants.set(name, value);
    this.#allConstants = new Map([...this.#givenConstants, ...this.#constants]);
  }

  /** All definitions as the symbols of another root. */
  export(): SymbolTable {
    return { libraries: this.sources.map(({ name, text }) => ({ name, text })), constants: Object.fromEntries(this.constants) };
  }

  #loaded(library: Library): LoadedLibrary {
    this.#sources = [...this.#given, ...this.#libraries.map(({ source }) => source)];
    return library;
  }

  #source(given: string | SignedUnit, name: string): Source {
    if (typeof given === 'object' && given !== null) {
      if (this.#signers !== null) return this.#signers.verify(given);
      throw new UnitError('a signed unit was given to an interpreter that trusts no signer; name some in its options');
    }
    if (this.#signers === null) return { name, text: given };
    throw new UnitError(`${name}: only signed units are loaded here, and this is a plain text`);
  }

  /** Throws for a procedure whose name the host's symbols or a constant use: definitions never override each other. */
  async #mustBeFree({ source, procedures }: Library): Promise<void> {
    const given = new Set((await this.#givenParsed()).flatMap((library) => library.procedures));
    const supplied = procedures.find((procedure) => given.has(procedure));
    if (supplied !== undefined) throw new LibraryError(`${source.name}: the host supplies a procedure '${supplied}'`);
    const constant = procedures.find((name) => this.#constants.has(name) || this.#givenConstants.has(name));
    if (constant !== undefined) throw new LibraryError(`${source.name}: there is a global constant '${constant}'`);
  }

  #givenParsed(): Promise<readonly Library[]> {
    this.#givenLibraries ??= Promise.all(this.#given.map((source) => this.#parse(source)));
    // A failure for lack of a worker may be temporary, so the next search parses again.
    this.#givenLibraries.catch(() => {
      this.#givenLibraries = null;
    });
    return this.#givenLibraries;
  }

  async #parse(source: Source): Promise<Library> {
    checkSources('sources', [source]);
    const { diagnostics, files } = await this.#init.parse(source);
    const [first] = diagnostics;
    if (first !== undefined) {
      const place = `${first.file}:${first.line}:${first.column}`;
      throw new LibraryError(`${place}: ${first.message}`, diagnostics);
    }
    const [file] = files;
    if (file === undefined) throw new LibraryError(`${source.name}: the parser returned nothing for it`);
    if (file.commandBlocks > 0)
      throw new LibraryError(`${source.name}: a library holds definitions; run its command blocks with execute`);
    const { procedures, signatures, events, metadata } = file;
    return { source: Object.freeze({ ...source }), procedures, signatures, events, metadata: Object.fromEntries(metadata) };
  }

  #inOrder<T>(load: () => Promise<T>): Promise<T> {
    const done = this.#loading.then(load);
    this.#loading = done.catch(() => null);
    return done;
  }
}
