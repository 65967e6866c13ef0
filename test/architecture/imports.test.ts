import { describe, expect, it } from 'vitest';
import { COMPUTED, type Import, importsOf, isOurs, loadedWith, partOf, productFiles } from './imports.ts';
import { BESIDE_THE_INDEX, PARTS, type Part } from './parts.ts';

const files = productFiles();
const imports = files.flatMap(importsOf);
const show = ({ from, to }: Import): string => `${from} → ${to}`;
const ruleOf = (path: string): Part => {
  const found = PARTS.find(({ name }) => name === partOf(path));
  if (found === undefined) throw new Error(`${path} belongs to no part that the rules know`);
  return found;
};

/** `tool.str.StripAnsi` removes control sequences, and its example has some. */
const TERMINAL_TEXT = ['src/wire/pure/str.ts'];

describe('imports point one way', () => {
  it('there are imports to look at', () => {
    expect(imports.length).toBeGreaterThan(300);
  });

  it('every part imports only the parts below it, types included', () => {
    const wrong = imports.filter(
      ({ from, to }) => isOurs(to) && partOf(from) !== partOf(to) && !ruleOf(from).imports.includes(partOf(to)),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  it('every part uses only the packages that it needs', () => {
    const wrong = imports.filter(({ from, to }) => isPackage(to) && !ruleOf(from).packages.includes(to));
    expect(wrong.map(show)).toEqual([]);
  });

  it('grammar, wire, guest and the entry points know nothing of Node', () => {
    const wrong = imports.filter(({ from, to }) => to.startsWith('node:') && !ruleOf(from).node);
    expect(wrong.map(show)).toEqual([]);
  });

  it('a part with a face is imported through its index.ts, or by the files that the table of parts names', () => {
    const past = imports.filter(({ from, to }) => {
      const target = PARTS.find(({ name }) => isOurs(to) && name === partOf(to));
      if (target?.face !== 'index' || partOf(from) === target.name || Object.hasOwn(BESIDE_THE_INDEX, to)) return false;
      const file = to
        .split('/')
        .slice(to.startsWith('src/') ? 2 : 1)
        .join('/');
      return file !== 'index.ts' && !(file === 'public.ts' && partOf(from) === 'entries');
    });
    expect(past.map(show)).toEqual([]);
  });

  it('every file beside an index is imported by another part', () => {
    const used = new Set(imports.filter(({ from, to }) => partOf(from) !== partOf(to)).map(({ to }) => to));
    expect(Object.keys(BESIDE_THE_INDEX).filter((path) => !used.has(path))).toEqual([]);
  });

  it('the leaves of grammar import only leaves', () => {
    const heavy = imports.filter(({ from, to, typeOnly }) => isGrammarLeaf(from) && !isGrammarLeaf(to) && !typeOnly);
    expect(heavy.map(show)).toEqual([]);
  });

  it('only the worker parses, the language server, which runs nothing, a page, the engine of tests, and who imports the grammar itself: elsewhere grammar is imported for its types, and its leaves for positions and words', () => {
    const wrong = imports.filter(
      ({ from, to, typeOnly }) =>
        to.startsWith('grammar/') &&
        !isGrammarLeaf(to) &&
        !typeOnly &&
        !['grammar', 'worker', 'browser', 'engine', 'lsp', 'entries'].includes(partOf(from)),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  it('of the guest the worker imports the cost tables alone: the rest comes as text, for the isolate', () => {
    const wrong = imports.filter(
      ({ from, to }) => partOf(from) === 'worker' && partOf(to) === 'guest' && to !== 'src/guest/costs.ts',
    );
    expect(wrong.map(show)).toEqual([]);
  });

  it('the protocol and its cryptography import no built-in of Node: two files ask for one at run time', () => {
    const isProtocol = (path: string): boolean => ['aeiou', 'crypto'].includes(partOf(path));
    const wrong = imports.filter(({ from, to, typeOnly }) => isProtocol(from) && to.startsWith('node:') && !typeOnly);
    expect(wrong.map(show)).toEqual([]);
    const asking = files.filter(({ path, text }) => isProtocol(path) && text.includes('getBuiltinModule'));
    expect(asking.map(({ path }) => path)).toEqual(['src/aeiou/keys/file.ts', 'src/crypto/native.ts']);
  });

  it('of the wire format the protocol needs the error classes and the version of what is stored', () => {
    const used = imports.filter(({ from, to }) => partOf(from) === 'aeiou' && partOf(to) === 'wire').map(({ to }) => to);
    expect([...new Set(used)]).toEqual(['src/wire/errors.ts', 'src/wire/forms.ts']);
  });

  it('the nonce of a turn is read by the magic tool and the loop alone', () => {
    const readers = imports.filter(({ to }) => to === 'src/context/nonce.ts').map(({ from }) => from);
    // turn.ts keeps the nonce of the context that it makes
    expect(readers.filter((from) => partOf(from) !== 'loop')).toEqual(['src/context/turn.ts']);
  });

  it('only the report and the command line write control sequences of a terminal', () => {
    const writing = files.filter(({ text }) => /\\u001b\[|\\x1b\[|\\e\[|styleText/.test(text)).map(({ path }) => path);
    expect(writing.filter((path) => !['report', 'cli'].includes(partOf(path)))).toEqual(TERMINAL_TEXT);
    expect(writing).toContain('src/report/palette.ts');
  });

  it('the gate imports nothing of any other part', () => {
    expect(imports.filter(({ from, to }) => partOf(from) === 'gate' && isOurs(to) && partOf(to) !== 'gate').map(show)).toEqual(
      [],
    );
  });

  it('what is imported is written in the source, but for what a user names, and clients that the application installs', () => {
    expect(imports.filter(({ to }) => to === COMPUTED).map(({ from }) => from)).toEqual([
      'src/cli/flags/module.ts',
      'src/postgres/connect.ts',
      'src/restate/sdk.ts',
      'bench/builds.ts',
      'bench/peerprocess.ts',
    ]);
  });

  it.each(['run', 'check', 'fmt', 'test', 'tools'])("'%s', which is about programs alone, starts without the loop", (command) => {
    const loaded = [...loadedWith(`src/cli/commands/${command}.ts`, imports)];
    expect(loaded.length).toBeGreaterThan(20);
    expect(loaded.filter((path) => partOf(path) === 'loop')).toEqual([]);
  });

  it('no files import each other in a circle, types included', () => {
    expect(circles(imports.filter(({ to }) => isOurs(to)))).toEqual([]);
  });
});

/** A file of the grammar that needs no parser. The files of the decoder's grammars are such leaves together. */
function isGrammarLeaf(path: string): boolean {
  return path.startsWith('grammar/decoder/') || (path.startsWith('grammar/') && Object.hasOwn(BESIDE_THE_INDEX, path));
}

function isPackage(target: string): boolean {
  // The schemas of the public JSON are data.
  return !isOurs(target) && !target.startsWith('node:') && !target.startsWith('#') && !target.startsWith('docs/schemas/');
}

/** Circles among imports, each as the path that closes it. */
function circles(edges: readonly Import[]): string[] {
  const targets = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) found.push([...path.slice(start), file].join(' → '));
    if (start >= 0 || done.has(file)) return;
    for (const { to } of targets.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return found;
}
