import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../src/entries/index.ts';
import { SourceCache } from '../../src/sandbox/sourcecache.ts';
import type { HostFrame, SentSource } from '../../src/wire/hostframes.ts';
import type { Source } from '../../src/wire/protocol.ts';

const frozen = (name: string, chars = 5_000): Source => Object.freeze({ name, text: name.padEnd(chars, '.') });

/** The worker's side: which sources a run gets that was sent like this. */
class Receiver {
  readonly kept = new Map<number, Source>();
  run({ ahead, sources }: { readonly ahead: readonly HostFrame[]; readonly sources: readonly SentSource[] }): readonly Source[] {
    for (const frame of ahead) {
      if (frame.t === 'keep') this.kept.set(frame.number, frame.source);
      else if (frame.t === 'drop') expect(this.kept.delete(frame.number)).toBe(true);
    }
    return sources.map((sent) => {
      const source = 'text' in sent ? sent : this.kept.get(sent.kept);
      if (source === undefined) throw new Error('a source that is not kept');
      return source;
    });
  }
}

describe('sources that a worker keeps', () => {
  it('travel twice, then only by their number', () => {
    const kept = new SourceCache();
    const library = frozen('lib');
    const own = frozen('src', 100);
    expect(kept.refer([library, own])).toEqual({ ahead: [], sources: [library, own] });
    const second = kept.refer([library, own]);
    expect(second).toEqual({ ahead: [{ t: 'keep', number: 1, source: library }], sources: [{ kept: 1 }, own] });
    expect(kept.refer([library, own])).toEqual({ ahead: [], sources: [{ kept: 1 }, own] });
  });

  it('are never ones that may have changed meanwhile', () => {
    const kept = new SourceCache();
    const mine = { name: 'lib', text: 'a'.repeat(5_000) };
    for (let run = 0; run < 3; run++) expect(kept.refer([mine]).ahead).toEqual([]);
    expect(kept.refer([mine]).sources).toEqual([mine]);
  });

  it('are bounded; a run gets its own sources whatever is dropped, and a dropped one is sent again', () => {
    const kept = new SourceCache();
    const worker = new Receiver();
    const many = Array.from({ length: 12 }, (_, index) => frozen(`lib${index}`, 900_000));
    for (let round = 0; round < 4; round++) {
      expect(worker.run(kept.refer(many))).toEqual(many);
      for (const one of many) expect(worker.run(kept.refer([one]))).toEqual([one]);
    }
    kept.refer([]);
    const chars = [...worker.kept.values()].reduce((sum, { text }) => sum + text.length, 0);
    expect(chars).toBeLessThanOrEqual(6 * 1024 * 1024);
  });
});

describe('the bound of what a worker keeps', () => {
  const QUARTER = 1024 * 1024;
  /** A cache that keeps these sources, by the numbers 1, 2 and so on. */
  const keeping = (sources: readonly Source[]): SourceCache => {
    const cache = new SourceCache();
    for (const source of [...sources, ...sources]) cache.refer([source]);
    return cache;
  };

  it('is four sources of the largest size; the one that was used least recently makes room, and no other', () => {
    const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map((name) => frozen(name, QUARTER));
    if (!a || !b || !c || !d || !e) throw new Error('five sources');
    const cache = keeping([a, b, c, d]);
    expect(cache.refer([a])).toEqual({ ahead: [], sources: [{ kept: 1 }] });
    cache.refer([e]);
    expect(cache.refer([e])).toEqual({ ahead: [{ t: 'keep', number: 5, source: e }], sources: [{ kept: 5 }] });
    expect(cache.refer([a, b])).toEqual({ ahead: [{ t: 'drop', number: 2 }], sources: [{ kept: 1 }, b] });
    expect(cache.refer([b])).toEqual({ ahead: [{ t: 'keep', number: 6, source: b }], sources: [{ kept: 6 }] });
    expect(cache.refer([d, e, a])).toEqual({ ahead: [{ t: 'drop', number: 3 }], sources: [4, 5, 1].map((kept) => ({ kept })) });
  });

  it('refuses a source that is one character larger', () => {
    const large = frozen('a', QUARTER + 1);
    expect(keeping([large]).refer([large])).toEqual({ ahead: [], sources: [large] });
  });
});

describe('a root with a large library, through the real sandbox', () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createRuntime({ concurrency: 1 });
  });
  afterAll(() => runtime.close());

  const library = (answer: number): string =>
    [
      `func answer(returns r) means\n  return ${answer}\nendfunc\n`,
      ...Array.from(
        { length: 60 },
        (_, index) => `func filler${index}(needs a returns r) means\n  return a + ${index}\nendfunc\n`,
      ),
    ].join('\n');
  const source = 'command\n  emit answer()\n  emit filler7(1)\nendcommand\n';

  it('gives every fork the definitions of its root as they stand, kept or not', async () => {
    const one = runtime.interpreter();
    const two = runtime.interpreter();
    await one.load(library(1));
    await two.load(library(2));
    const runs = async (root: typeof one): Promise<unknown> => (await root.fork().execute(source)).values;
    for (let round = 0; round < 3; round++)
      expect([await runs(one), await runs(two)]).toEqual([
        [1, 8],
        [2, 8],
      ]);
    await one.load(library(3));
    for (let round = 0; round < 3; round++) expect(await runs(one)).toEqual([3, 8]);
  });

  it('places in a library that was kept are the right ones, and so is the stack', async () => {
    const root = runtime.interpreter();
    await root.load(`${library(1)}\nfunc broken() means\n  fail "no"\nendfunc\n`, 'big.ns');
    const line = library(1).split('\n').length + 2;
    for (let round = 0; round < 3; round++) {
      const { error } = await root.fork().execute('command\n  call broken()\nendcommand\n');
      expect(error).toMatchObject({ source: 'big.ns', line, column: 3, message: 'no' });
      expect(error?.stack).toMatchObject([
        { name: 'broken', source: 'big.ns', line: line - 1 },
        { source: 'src', line: 1 },
      ]);
    }
  });

  it('a procedure that two libraries define is found at its place, though no run has seen it', async () => {
    const again = library(1);
    const result = await runtime.run('command\n  emit 1\nendcommand\n', { lib: [again, `\n${again}`] });
    expect(result.error).toMatchObject({ code: 'NS42', source: 'lib2', line: 2, column: 6 });
  });
});
