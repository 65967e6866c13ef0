/**
 * The parts of the product, from the bottom to the top: what each is for and what it may import. The import rules, the layout in
 * `CONTRIBUTING.md` and the rule about faces are derived from this table.
 */
export interface Part {
  /** Its name in the rules: a folder of `src`, else a folder of the repository. */
  readonly name: string;
  /** What it is for, in a few words. */
  readonly holds: string;
  readonly imports: readonly string[];
  readonly packages: readonly string[];
  /** Whether it may use Node's own modules. */
  readonly node: boolean;
  /**
   * `index`: other parts import its `index.ts` and no other file. `files`: every import names the file that declares a name, because
   * bundles take single files of it or nothing imports it; an `index.ts` there is an entry point of the package.
   */
  readonly face: 'index' | 'files';
}

/** Files that other parts import beside the index of their part. */
export const BESIDE_THE_INDEX: Readonly<Record<string, string>> = {
  'src/context/nonce.ts': 'the nonce of a turn is for the loop alone',
  'src/sandbox/limits.ts': 'a page checks limits without a pool',
  'src/report/html.ts': 'the pages of the command line are made of the same pieces',
  'stdlib-tools/storage/tables.ts': 'a schema of Postgres has the tables of values beside those of sessions',
  'src/runtime/version.ts': 'the command line reads the version without loading the runtime',
  'grammar/decoder/index.ts': 'the host writes grammars without the parser',
  'grammar/syntax/position.ts': 'a leaf that the guest bundles',
  'grammar/advice/functions.ts': 'a leaf that the guest bundles',
  'grammar/syntax/walk.ts': 'a leaf that the guest bundles',
  'grammar/vocabulary/builtins.ts': 'a leaf that the guest bundles',
  'grammar/vocabulary/keywords.ts': 'a leaf that the guest bundles',
  'grammar/vocabulary/names.ts': 'a leaf that the host uses without the parser',
  'grammar/vocabulary/spelling.ts': 'a leaf that the host and the interpreter use without the parser',
  'grammar/repair/apply.ts': 'a leaf that the host uses without the parser',
};

const FILES = new Set(['wire', 'files', 'sqlite', 'guest', 'worker', 'engine', 'gate', 'entries', 'cli', 'bench']);

function part(name: string, holds: string, imports: string, packages: string, node: boolean): Part {
  const list = (words: string): readonly string[] => (words === '' ? [] : words.split(' '));
  return { name, holds, imports: list(imports), packages: list(packages), node, face: FILES.has(name) ? 'files' : 'index' };
}

export const PARTS: readonly Part[] = [
  part('grammar', 'source text to tree, advice on errors, linter, cost estimate, formatter', '', 'chevrotain', false),
  part('wire', 'what crosses a boundary: frames, values, errors, the tables of limits and prices', 'grammar', '', false),
  part('guest', 'the interpreter; runs inside the isolate', 'wire grammar', '', false),
  part('worker', 'the worker process: permissions, parsing, the isolate', 'wire grammar guest', 'isolated-vm', true),
  part('sandbox', "the host's side of a worker: pool, limits, launcher", 'wire', '', true),
  part('engine', 'programs in the realm of their host: for pages and tests', 'guest worker sandbox wire grammar', '', true),
  part('files', 'reading files, lines and values of any origin, within a bound', 'wire', 'zod', true),
  part('sqlite', 'what stores ask of a database in SQL, and SQLite files', 'files wire', '', true),
  part('context', 'host and turn contexts, stores of an interpreter', 'wire', '', true),
  part('telemetry', 'spans and metrics by the conventions of OpenTelemetry', 'wire', '@opentelemetry/api', false),
  part(
    'tools',
    'defining, finding, allowing, calling, mocking and recording tools',
    'files telemetry context wire grammar',
    'yaml zod',
    true,
  ),
  part('crypto', 'Ed25519, HMAC, SHA-256, base64url', '', '@noble/ed25519 @noble/hashes', true),
  part('aeiou', 'AEIOU v3: envelope, token, keys, decision', 'crypto wire', 'canonicalize', true),
  part(
    'runtime',
    'createRuntime, interpreters and their forks',
    'files telemetry sandbox tools crypto context wire',
    'zod',
    true,
  ),
  part(
    'browser',
    'programs without native code, in a page or on Node: `neuroscript-runtime/browser`',
    'runtime engine guest sandbox wire grammar',
    '',
    false,
  ),
  part(
    'loop',
    'the host loop: sessions, turns, the magic tool, agents, log, replay',
    'files sqlite runtime telemetry aeiou sandbox tools context wire grammar',
    'yaml zod ai @ai-sdk/openai-compatible @opentelemetry/api',
    true,
  ),
  part(
    'report',
    'sessions, turns, tokens, calls and errors as text: `neuroscript-runtime/report`',
    'loop aeiou tools wire',
    '',
    true,
  ),
  part(
    'ui',
    'the inspector: sessions, turns, trials and the log for a page on this machine',
    'report loop runtime aeiou tools files sqlite wire',
    'zod',
    true,
  ),
  part(
    'receipt',
    'receipts of sessions and checkpoints of logs: `neuroscript-runtime/receipts`',
    'files sqlite crypto aeiou loop runtime wire',
    'zod',
    true,
  ),
  part('gate', 'the ARGO gate, its executor and approvals', '', '', true),
  part(
    'testing',
    'the kit for authors of tools and agents: `neuroscript-runtime/testing`',
    'stdlib-tools loop runtime aeiou sandbox tools context engine wire grammar',
    '',
    true,
  ),
  part('stdlib-tools', 'the standard tools that the host runs', 'sqlite tools context wire', '', true),
  part(
    'entries',
    'the entry points of the package that are not the whole of a part',
    'stdlib-tools report loop runtime telemetry aeiou sandbox tools context wire grammar',
    '',
    false,
  ),
  part(
    'postgres',
    'sessions, decision log and tool values on Postgres: `neuroscript-runtime/postgres`',
    'loop sqlite tools stdlib-tools wire',
    '',
    true,
  ),
  part('restate', 'sessions that Restate drives: `neuroscript-runtime/restate`', 'loop aeiou files wire', 'zod', false),
  part('ai', 'tools of the AI SDK, both ways: `neuroscript-runtime/ai`', 'loop runtime tools wire', 'ai zod', false),
  part(
    'mcp',
    'Model Context Protocol, as client and as server',
    'files loop sqlite runtime telemetry aeiou sandbox tools context wire',
    '@modelcontextprotocol/client @modelcontextprotocol/server zod',
    true,
  ),
  part(
    'rpc',
    'the runtime over JSON-RPC, for programs in other languages',
    'files loop runtime aeiou sandbox tools wire',
    'zod',
    true,
  ),
  part(
    'lsp',
    'the language server: what an editor shows of programs',
    'runtime tools grammar',
    'vscode-languageserver vscode-languageserver-textdocument',
    true,
  ),
  part(
    'cli',
    'the command line: commands, flags, terminal',
    'ui rpc lsp mcp gate receipt report postgres loop runtime aeiou sandbox tools context files wire grammar stdlib-tools bench',
    'commander yaml zod',
    true,
  ),
  part(
    'bench',
    'measurements, with peers beside',
    'entries postgres loop runtime aeiou sandbox worker tools context wire stdlib-tools',
    '@pydantic/monty quickjs-emscripten isolated-vm',
    true,
  ),
];

/** Folders of the repository that hold no product code. */
export const OTHER_FOLDERS: Readonly<Record<string, string>> = {
  apps: 'packages of their own, which the root does not install',
  'apps/inspector': 'the page of `neuroscript ui`, which the tarball brings along',
  'apps/playground': 'the language in a page, as static files',
  'apps/site': 'the documentation as a site',
  'apps/command': 'the package `neuroscript`: the command with all optional packages',
  'apps/editors': 'the extension for Visual Studio Code',
  'apps/lab': 'tools that only some work needs: peers, engines, mutation tests',
  clients: 'clients of `neuroscript host` in other languages',
  conformance:
    'golden data for every implementation of AEIOU v3, a definitional interpreter of the language, and the records of each version',
  examples: 'programs, agents and tools to start from; every one is a test',
  'examples/containers': 'profiles for Docker, Podman and Kubernetes, see `docs/security.md`',
  'examples/templates': 'what `neuroscript init` writes; every one is installed and run as a test',
  docs: 'one page a topic; `docs/errors/` has one page an error code, `docs/schemas/` the JSON Schemas of the public JSON',
  bin: 'the command `neuroscript`',
  scripts: 'what npm scripts run, and what writes generated pages',
  test: 'mirrors the source, and holds it to its rules in `architecture/`, `traceability/`, `docs/` and `readme/`',
  '.ci': 'what runs everything on a clean clone',
  '.github': 'the release',
};

/** Folder of a part, with a slash at its end. */
function folderOf({ name }: Part): string {
  return ['grammar', 'stdlib-tools', 'bench'].includes(name) ? `${name}/` : `src/${name}/`;
}

/** The lines of the layout in `CONTRIBUTING.md`; `npx node scripts/layout.mjs` writes them. */
export function layout(): string {
  const rows = [
    ...PARTS.map((part): [string, string] => [folderOf(part), part.holds]),
    ...Object.entries(OTHER_FOLDERS).map(([name, holds]): [string, string] => [`${name}/`, holds]),
  ];
  const width = Math.max(...rows.map(([folder]) => folder.length)) + 2;
  return rows.map(([folder, holds]) => `${folder.padEnd(width)}${holds}\n`).join('');
}

/** `CONTRIBUTING.md` with the layout of today. */
export function withLayout(page: string): string {
  return page.replace(/(## Layout\n\n```\n)[\s\S]*?(```)/, (_, before: string, after: string) => `${before}${layout()}${after}`);
}
