import { appendFileSync, readFileSync, renameSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { QueueLock, recordExecuted } from '../../src/gate/index.ts';
import { ask, HASH, ID, line, OTHER, queueWith } from './kit.ts';

const disk = vi.hoisted(() => ({
  take: Number.POSITIVE_INFINITY,
  syncs: [] as string[],
  /** Descriptors that were opened and not closed. */
  open: new Set<number>(),
  broken: '',
  /** Runs while a file is read. */
  meanwhile: (): void => {},
}));

vi.mock('node:fs', async (load) => {
  const fs = await load<typeof import('node:fs')>();
  const names = new Map<number, string>();
  return {
    ...fs,
    openSync: (...args: Parameters<typeof fs.openSync>) => {
      const file = fs.openSync(...args);
      names.set(file, String(args[0]));
      disk.open.add(file);
      return file;
    },
    closeSync: (file: number) => {
      fs.closeSync(file);
      disk.open.delete(file);
    },
    readSync: (file: number, buffer: Uint8Array, offset: number, length: number, position: number) => {
      const read = fs.readSync(file, buffer, offset, length, position);
      disk.meanwhile();
      return read;
    },
    // A disk that accepts only the first bytes of a record.
    writeSync: (file: number, bytes: Uint8Array) =>
      names.get(file)?.endsWith('.jsonl') === true ? fs.writeSync(file, bytes.subarray(0, disk.take)) : fs.writeSync(file, bytes),
    fsyncSync: (file: number) => {
      const name = names.get(file) ?? '';
      if (disk.broken !== '' && name.endsWith(disk.broken)) throw new Error('EIO: the disk failed');
      disk.syncs.push(name);
    },
  };
});

afterEach(() =>
  Object.assign(disk, { take: Number.POSITIVE_INFINITY, syncs: [], open: new Set(), broken: '', meanwhile: () => {} }),
);

const NOW = Date.parse('2026-01-15T12:00:00Z');

function record(queue: string): void {
  recordExecuted(new QueueLock(queue, NOW), { intentId: ID, hash: HASH }, NOW);
}

describe('a queue whose files are read and written', () => {
  it('every descriptor is closed, whether the call succeeds or fails', () => {
    const queue = queueWith();
    record(queue);
    const spoiled = queueWith({ 'executed.jsonl': 'nonsense\n' });
    expect(() => record(spoiled)).toThrow(/is not a record/);
    expect(ask(spoiled, { command: 'true', args: [] }).eligible).toBe(false);
    expect(disk.open.size).toBe(0);
  });
});

describe('a disk that fails while an execution is recorded', () => {
  it('ARGO-6-9: the record is with the disk before anybody says so, and so is its directory, in which the file may be new', () => {
    const queue = queueWith();
    record(queue);
    expect(disk.syncs).toEqual([join(queue, 'executed.jsonl'), queue]);
    const older = queueWith({ 'executed.jsonl': line({ id: OTHER }) });
    disk.syncs = [];
    record(older);
    expect(disk.syncs).toEqual([join(older, 'executed.jsonl'), older]);
  });

  it('ARGO-6-9: a record that the disk took only a part of is reported, left as it is, and denies from then on', () => {
    const whole = line({ timestamp: '2026-01-15T12:00:00.000Z' });
    for (disk.take = 1; disk.take < whole.length; disk.take += 1) {
      const queue = queueWith({ 'executed.jsonl': line({ id: OTHER }) });
      expect(() => record(queue)).toThrow('cannot append to executed.jsonl: the disk accepted only a part of the line');
      expect(readFileSync(join(queue, 'executed.jsonl'), 'utf8')).toBe(line({ id: OTHER }) + whole.slice(0, disk.take));
      expect(ask(queue, { command: 'true', args: [] }).eligible).toBe(false);
    }
  });

  it('nothing is appended to a file that somebody else writes to meanwhile', () => {
    const theirs = line({ id: OTHER });
    const queue = queueWith({ 'executed.jsonl': theirs });
    const path = join(queue, 'executed.jsonl');
    // The first read is of the lock.
    const changes = [() => {}, () => appendFileSync(path, theirs)];
    disk.meanwhile = () => changes.shift()?.();
    expect(() => record(queue)).toThrow('cannot append to executed.jsonl: it changed while it was read');
    expect(readFileSync(path, 'utf8')).toBe(theirs.repeat(2));
  });

  it.each(['executed.jsonl', ''])('a failing fsync of the queue’s file or directory is reported', (name) => {
    const queue = queueWith();
    disk.broken = join(queue, name).replace(/\/$/, '');
    expect(() => record(queue)).toThrow(
      expect.objectContaining({ code: 'ERR_GATE_RECORD', message: expect.stringMatching(/EIO/) }),
    );
  });
});

describe('a record that changes while the gate reads it', () => {
  const record = line({ id: OTHER });
  const seconds = 1000;
  it.each<[string, ...((path: string) => void)[]]>([
    ['grows', (path) => appendFileSync(path, record)],
    ['shrinks', (path) => truncateSync(path, record.length)],
    ['is written anew', (path) => writeFileSync(path, record.repeat(2))],
    ['is touched', (path) => utimesSync(path, 1, 1)],
    ['vanishes', (path) => rmSync(path)],
    [
      'is replaced by a file of the same size and time',
      (path) => {
        writeFileSync(`${path}.new`, record.repeat(2));
        utimesSync(`${path}.new`, seconds, seconds);
        renameSync(`${path}.new`, path);
      },
    ],
    [
      'grows and shrinks again',
      (path) => appendFileSync(path, record),
      (path) => {
        truncateSync(path, 2 * record.length);
        utimesSync(path, seconds, seconds);
      },
    ],
  ])('ARGO-6-7: denies when it %s', (_, ...changes) => {
    const queue = queueWith({ 'executed.jsonl': record.repeat(2) });
    const path = join(queue, 'executed.jsonl');
    utimesSync(path, seconds, seconds);
    // One change after each chunk that is read.
    disk.meanwhile = () => changes.shift()?.(path);
    expect(ask(queue, { command: 'true', args: [] })).toMatchObject({ eligible: false, code: 'ERR_GATE_HISTORY' });
    expect(changes).toEqual([]);
  });
});
