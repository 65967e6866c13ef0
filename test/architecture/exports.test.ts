import { describe, expect, it } from 'vitest';
import { type Exported, exportsOf, hasDoc, internalIds, type Member, publicEntries } from './exports.ts';

const entries = publicEntries();

/** Every symbol of every entry point once. */
const allSymbols = (): Exported[] => [
  ...new Map(entries.flatMap(({ file }) => [...exportsOf(file).values()].map((symbol) => [symbol.at, symbol]))).values(),
];

describe('the public entry points', () => {
  it('are fifteen jobs that a user can name, and the description of the package', () => {
    const jobs = 'aeiou loop gate grammar stdlib-tools testing report receipts telemetry mcp ai postgres restate browser';
    expect(entries.map(({ name }) => name)).toEqual(['.', ...jobs.split(' ').map((job) => `./${job}`)]);
  });

  it('each name comes from exactly one', () => {
    const homes = Map.groupBy(
      entries.flatMap(({ name: entry, file }) => [...exportsOf(file).keys()].map((name) => ({ entry, name }))),
      ({ name }) => name,
    );
    const shared = [...homes].filter(([, all]) => all.length > 1).map(([name, all]) => [name, ...all.map(({ entry }) => entry)]);
    expect(shared).toEqual([]);
  });

  it('keep the names that others import, each where it stands', () => {
    const home = (entry: string, names: string): readonly string[] => {
      const file = entries.find(({ name }) => name === entry)?.file ?? '';
      return names.split(' ').filter((name) => !exportsOf(file).has(name));
    };
    expect(home('.', 'createRuntime currentTurn defineTool AgentModelStore SessionStorage')).toEqual([]);
    const keys = 'generateKeys keyringFrom parseKeys Keyring nativeCrypto';
    const envelopes = 'parseEnvelope composeEnvelope extractEnvelope validateUserdata canonicalize parseStrict';
    const judged = 'verifyToken selectDecision progressDigest ReplayCache ProgressGuard NO_PROGRESS_YET';
    expect(home('./aeiou', `${keys} ${envelopes} ${judged}`)).toEqual([]);
    const parts = 'LoopController MemoryLog runtimeExecutor askHandler functionAgent openaiAgent systemClock';
    expect(home('./loop', parts)).toEqual([]);
    const stored = 'Admission CensusRow SessionCondition DamagedSession Death ForcedEnd Held OnDamaged RecentQuery TurnsQuery';
    const ofAuthors = `${stored} HostRegistry KnownHost LivingHost LoggedRefusal AgentFailure TokenPrice`;
    expect(home('./loop', ofAuthors)).toEqual([]);
  });

  it.each(entries)('every symbol of $name has a doc comment', ({ file }) => {
    const symbols = [...exportsOf(file).values()];
    expect(symbols.length).toBeGreaterThan(0);
    expect(symbols.filter(({ documented }) => !documented).map(({ name, at }) => `${name} (${at})`)).toEqual([]);
  });

  it('every member of a public symbol has a doc comment, unless it can have one value only', () => {
    const members = allSymbols().flatMap(({ name, at, members }) =>
      members.map((member) => ({ ...member, of: `${name} (${at})` })),
    );
    expect(members.length).toBeGreaterThan(2000);
    const bare = members.filter(({ documented, evident }) => !documented && !evident);
    expect(bare.map(({ name, of }) => `${name} of ${of}`)).toEqual([]);
  });

  it('a member is described by its own comment, its case of a union, or the interface that a class implements', () => {
    const found = (file: string, name: string, which: (member: Member) => boolean): string[] =>
      exportsOf(file)
        .get(name)
        ?.members.filter(which)
        .map((member) => member.name) ?? [];
    const FILE = 'test/architecture/members.ts';
    expect(found(FILE, 'Shape', ({ documented }) => documented)).toEqual(['own', 'kind', 'radius', 'both', 'never']);
    expect(found(FILE, 'Shape', ({ evident }) => evident)).toEqual(['kind', 'kind', 'never']);
    expect(found(FILE, 'Round', ({ documented }) => documented)).toEqual(['described', 'base']);
    expect(found(FILE, 'Round', ({ evident }) => evident)).toEqual(['code']);
  });

  it('members are those that callers can name', () => {
    const named = (file: string, name: string) =>
      exportsOf(file)
        .get(name)
        ?.members.map((member) => member.name);
    expect(named('src/mcp/index.ts', 'ProgramStore')).toEqual(['key', 'put', 'take']);
    expect(named('src/mcp/index.ts', 'ProgramFile')).toEqual(['key', 'open', 'put', 'take']);
  });

  it.each(entries)('no doc comment of $name or of its members cites an internal id', ({ file }) => {
    const cited = [...exportsOf(file).values()].flatMap(({ name, at, docs }) =>
      docs.flatMap(internalIds).map((id) => `${id} in ${name} (${at})`),
    );
    expect(cited).toEqual([]);
  });

  it('knows internal ids in every form, and leaves ordinary words alone', () => {
    const ids = [
      'A3-3.2-6',
      'AL3-11-2',
      'AL1-7',
      'CTX-4-2',
      'ARGO-3',
      'AMB-39',
      'P16',
      'DESIGN 5',
      'language.md 4.2',
      'protocol.md 8.2',
      'ruling 13',
      'threat 23',
      'seed 001',
    ];
    expect(ids.map((id) => internalIds(`Sentence (${id}).`))).toEqual(ids.map((id) => [id]));
    expect(internalIds('RFC 8032, section 5; P-256; `docs/language.md`; an HTTP 2 seed of 32 bytes; `UP2`')).toEqual([]);
  });

  it('tells a doc comment from other comments', () => {
    expect(['/** What it is. */\n', '/**\n * What.\n */'].map(hasDoc)).toEqual([true, true]);
    expect(['// What it is.\n', '/* no doc */', '/** */', '/** of another */\nconst a = 1;\n', ''].map(hasDoc)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});
