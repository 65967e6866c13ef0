import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SILENT_LOGGER } from '../../src/context/index.ts';
import { SessionResources, ToolResources } from '../../src/tools/index.ts';
import { Handle } from '../../src/wire/values.ts';
import { tempFolder } from '../folder.ts';

const base = tempFolder();

describe('the directory of a session', () => {
  it('is made when it is asked for, once, for this user alone', async () => {
    const own = new ToolResources(base, SILENT_LOGGER);
    const [first, second] = await Promise.all([own.sandboxDir(), own.sandboxDir()]);
    expect(second).toBe(first);
    expect(isAbsolute(first)).toBe(true);
    if (process.platform !== 'win32') expect(statSync(first).mode & 0o777).toBe(0o700);
  });

  it('goes with all that is in it when the session ends, and nothing that a link leads to', async () => {
    const outside = join(base, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'kept'), 'x');
    const own = new ToolResources(base, SILENT_LOGGER);
    const directory = await own.sandboxDir();
    mkdirSync(join(directory, 'deep'));
    writeFileSync(join(directory, 'deep', 'file'), 'x');
    symlinkSync(outside, join(directory, 'link'));
    await Promise.all([own.end(), own.end()]);
    expect(existsSync(directory)).toBe(false);
    expect(existsSync(join(outside, 'kept'))).toBe(true);
    await expect(own.sandboxDir()).rejects.toMatchObject({ nsCode: 19 });
  });

  it('that cannot be made is code 26, and may be made later', async () => {
    const missing = join(base, 'later');
    const own = new ToolResources(missing, SILENT_LOGGER);
    await expect(own.sandboxDir()).rejects.toMatchObject({ nsCode: 26 });
    mkdirSync(missing);
    expect(existsSync(await own.sandboxDir())).toBe(true);
  });

  it('is another one for every session, and for the next session of the same id', async () => {
    const sessions = new SessionResources(base);
    const of = (id: string): Promise<string> => sessions.of(id, SILENT_LOGGER).sandboxDir();
    const [a, again, b] = [await of('a'), await of('a'), await of('b')];
    expect(again).toBe(a);
    expect(b).not.toBe(a);
    await sessions.end('a');
    expect([existsSync(a), existsSync(b)]).toEqual([false, true]);
    expect(await of('a')).not.toBe(a);
    await sessions.close();
    expect(existsSync(b)).toBe(false);
  });
});

describe('the sessions of a runtime', () => {
  it('are bounded in number: code 37', async () => {
    const sessions = new SessionResources(base);
    for (let count = 0; count < 10_000; count += 1) sessions.of(`s${count}`, SILENT_LOGGER);
    expect(() => sessions.of('one more', SILENT_LOGGER)).toThrow(expect.objectContaining({ nsCode: 37 }));
    await sessions.end('s0');
    sessions.of('one more', SILENT_LOGGER);
  });
});

describe('handles', () => {
  it('stand for an object of this session, under their own kind, until they are released', () => {
    const { handles } = new ToolResources(base, SILENT_LOGGER);
    const object = { rows: 3 };
    const handle = handles.create('table', object);
    expect(handles.get(handle, 'table')).toBe(object);
    expect(() => handles.get(handle, 'file')).toThrow("not a handle of kind 'file'");
    expect(() => handles.get(new Handle('table', 'guess'), 'table')).toThrow('not a handle');
    expect(() => handles.get(new Handle('file', handle.id), 'table')).toThrow('not a handle');
    expect(() => handles.get({ kind: 'table', id: handle.id } as never, 'table')).toThrow('not a handle');
    const other = new ToolResources(base, SILENT_LOGGER);
    expect(() => other.handles.get(handle, 'table')).toThrow('not a handle');
    expect([handles.release(handle), handles.release(handle), handles.size]).toEqual([true, false, 0]);
    expect(() => handles.get(handle, 'table')).toThrow('not a handle');
  });

  it('cannot be guessed: each has 128 random bits', () => {
    const { handles } = new ToolResources(base, SILENT_LOGGER);
    const ids = Array.from({ length: 1000 }, () => handles.create('x', {}).id);
    expect(new Set(ids).size).toBe(1000);
    for (const id of ids) expect(Buffer.from(id, 'base64url')).toHaveLength(16);
  });

  it('are bounded in number: code 37', () => {
    const { handles } = new ToolResources(base, SILENT_LOGGER);
    for (let made = 0; made < 10_000; made++) handles.create('x', {});
    expect(() => handles.create('x', {})).toThrow(expect.objectContaining({ nsCode: 37 }));
  });

  it('end with the session: what can be disposed of is, the latest first, and a failure goes to the log', async () => {
    const ended: string[] = [];
    const logged: object[] = [];
    const own = new ToolResources(base, { ...SILENT_LOGGER, error: (fields) => void logged.push(fields) });
    own.handles.create('a', { [Symbol.dispose]: () => void ended.push('a') });
    own.handles.create('b', {
      [Symbol.dispose]: () => {
        throw new Error('stuck');
      },
    });
    own.handles.create('c', { [Symbol.asyncDispose]: async () => void ended.push('c') });
    own.handles.create('d', {});
    await own.end();
    expect(ended).toEqual(['c', 'a']);
    expect(logged).toMatchObject([{ kind: 'b' }]);
    expect(() => own.handles.create('e', {})).toThrow(expect.objectContaining({ nsCode: 19 }));
  });
});
