import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { inOrder } from '../../src/cli/terminal/inorder.ts';
import { Output } from '../../src/cli/terminal/output.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

async function* upTo(count: number, onTake: (item: number) => void = () => {}): AsyncGenerator<number> {
  for (let item = 0; item < count; item += 1) {
    onTake(item);
    yield item;
  }
}

describe('work in order', () => {
  it('hands results on in the order of the items, not of completion', async () => {
    const results: number[] = [];
    await inOrder(
      upTo(20),
      4,
      async (item) => {
        for (let wait = 0; wait < (item % 4 === 0 ? 20 : 1); wait += 1) await tick();
        return item;
      },
      async (result) => void results.push(result),
    );
    expect(results).toEqual([...Array(20).keys()]);
  });

  it('never has more than the width open, and works on several at once', async () => {
    let open = 0;
    let most = 0;
    await inOrder(
      upTo(20),
      3,
      async () => {
        open += 1;
        most = Math.max(most, open);
        await tick();
      },
      async () => {
        open -= 1;
      },
    );
    expect(most).toBe(3);
  });

  it('does not read ahead of a slow sink', async () => {
    let taken = 0;
    let release: () => void = () => {};
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const all = inOrder(
      upTo(1000, () => {
        taken += 1;
      }),
      4,
      async (item) => item,
      () => blocked,
    );
    for (let wait = 0; wait < 50; wait += 1) await tick();
    expect(taken).toBeLessThanOrEqual(5);
    release();
    await all;
    expect(taken).toBe(1000);
  });

  it('answers the first item before a second one arrives', async () => {
    const input = new PassThrough({ objectMode: true });
    const answered = new Promise<unknown>((resolve) => {
      void inOrder(
        input,
        8,
        async (item) => item,
        async (result) => resolve(result),
      );
    });
    input.write('first');
    expect(await answered).toBe('first');
    input.end();
  });

  it.each(['work', 'sink'] as const)('rejects with the first failure of %s and takes no more', async (place) => {
    const fails = (here: string, item: number) => {
      if (here === place && item === 5) throw new Error('five');
      return item;
    };
    let taken = 0;
    const run = inOrder(
      upTo(1000, () => {
        taken += 1;
      }),
      2,
      async (item) => fails('work', item),
      async (result) => void fails('sink', result),
    );
    await expect(run).rejects.toThrow('five');
    expect(taken).toBeLessThan(12);
  });
});

describe('output', () => {
  it('waits for a slow reader', async () => {
    const slow = new PassThrough({ highWaterMark: 4 });
    const out = new Output(slow);
    let ready = false;
    const waiting = out.lineWhenReady('0123456789').then(() => {
      ready = true;
    });
    await tick();
    expect(ready).toBe(false);
    slow.resume();
    await waiting;
  });

  it('tells once that nobody reads any more, and swallows what comes after', async () => {
    const broken = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
    });
    const out = new Output(broken);
    out.line('a');
    await tick();
    expect(out.closed.aborted).toBe(true);
    out.line('b');
    await out.lineWhenReady('c');
  });
});
