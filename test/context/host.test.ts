import { describe, expect, it } from 'vitest';
import { createHostContext, LineReader, SILENT_LOGGER } from '../../src/context/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';

describe('a host context', () => {
  it('CTX-2A-4: needs a logger with all its levels', () => {
    expect(() => createHostContext({} as never)).toThrow(/logger is missing/);
    expect(() => createHostContext({ logger: { ...SILENT_LOGGER, warn: undefined } as never })).toThrow(
      /logger\.warn must be a function/,
    );
  });

  it('CTX-2A-2: is frozen, with everything it holds itself', () => {
    const written: string[] = [];
    const actor = { id: 'did:x:1', name: 'Ann' };
    const stdout = { write: (text: string) => written.push(text) };
    const host = createHostContext({ logger: SILENT_LOGGER, actor, stdout, stdin: [] });
    for (const part of [host, host.logger, host.actor, host.stdout, host.stdin]) expect(Object.isFrozen(part)).toBe(true);
    expect(() => Object.assign(host, { actor: null })).toThrow(TypeError);
    expect(() => Object.assign(host.actor ?? {}, { id: 'did:x:2' })).toThrow(TypeError);
    expect(() => Object.assign(host.stdout ?? {}, { write: () => 0 })).toThrow(TypeError);
    actor.id = 'did:x:3';
    expect(host.actor?.id).toBe('did:x:1');
    host.stdout?.write('hello');
    expect(written).toEqual(['hello']);
  });

  it('lists every problem in one error', () => {
    const bad = { stdout: {}, stdin: 1, emit: 'x', actor: { id: '' }, whisperer: 1 } as never;
    expect(() => createHostContext(bad)).toThrow(ConfigError);
    const problems = [
      'logger is missing',
      'stdin must be',
      'stdout must have',
      'emit must be',
      'actor.id must be',
      'whisperer is not',
    ];
    for (const problem of problems) expect(() => createHostContext(bad)).toThrow(problem);
  });

  it('a logger may be an object with state', () => {
    class Counting {
      lines = 0;
      debug(): void {}
      info(): void {
        this.lines++;
      }
      warn(): void {}
      error(): void {}
    }
    const logger = new Counting();
    createHostContext({ logger }).logger.info({}, 'x');
    expect(logger.lines).toBe(1);
  });
});

describe('lines of the input', () => {
  const all = async (chunks: Iterable<string | Uint8Array>): Promise<(string | null)[]> => {
    const reader = new LineReader(chunks);
    const lines: (string | null)[] = [];
    for (let line = await reader.next(); line !== null; line = await reader.next()) lines.push(line);
    return lines;
  };

  it('P35: nothing read ahead is lost, and a last line without a line feed counts', async () => {
    expect(await all(['one\ntwo\r\nth', 'ree\n\nlast'])).toEqual(['one', 'two', 'three', '', 'last']);
    expect(await all([])).toEqual([]);
    expect(await all(['x\n'])).toEqual(['x']);
  });

  it('characters that are cut between two chunks stay whole', async () => {
    const bytes = new TextEncoder().encode('größe €\n');
    expect(await all([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(['größe €']);
  });

  it('a line that never ends is refused, again and again, before it fills the memory', async () => {
    let chunks = 0;
    function* endless(): Generator<string> {
      for (; chunks < 10_000; chunks++) yield 'x'.repeat(64 * 1024);
    }
    const reader = new LineReader(endless());
    await expect(reader.next()).rejects.toThrow(/longer than 8388608 characters/);
    await expect(reader.next()).rejects.toThrow(/longer than 8388608 characters/);
    expect(chunks).toBeLessThanOrEqual(129);
  });

  it('a line of the greatest length is read whole, and so is the one after it', async () => {
    const most = 'y'.repeat(8 * 1024 * 1024);
    const reader = new LineReader([most.slice(0, 100), most.slice(100), '\nnext\n']);
    expect((await reader.next()) === most).toBe(true);
    expect(await reader.next()).toBe('next');
    expect(await reader.next()).toBeNull();
  });

  it('a caller that gives up leaves the line to the next one', async () => {
    const source = Promise.withResolvers<string>();
    const reader = new LineReader(
      (async function* () {
        yield await source.promise;
      })(),
    );
    const [first, second] = [new AbortController(), new AbortController()];
    const given = [reader.next(first.signal), reader.next(second.signal), reader.next()];
    first.abort(new Error('gone'));
    second.abort(new Error('gone too'));
    const settled = Promise.allSettled(given);
    source.resolve('a\nb\n');
    expect(await settled).toMatchObject([{ reason: { message: 'gone' } }, { reason: { message: 'gone too' } }, { value: 'a' }]);
    expect(await reader.next(first.signal).catch(String)).toBe('Error: gone');
    expect(await reader.next()).toBe('b');
  });

  it('callers at the same time get the lines in the order in which they asked', async () => {
    const reader = new LineReader(['a\nb\nc']);
    expect(await Promise.all([reader.next(), reader.next(), reader.next(), reader.next()])).toEqual(['a', 'b', 'c', null]);
    const cut = new LineReader(
      (async function* () {
        yield* ['a', '\nb\n'];
      })(),
    );
    expect(await Promise.all([cut.next(), cut.next()])).toEqual(['a', 'b']);
  });
});
