import { describe, expect, it } from 'vitest';
import { PreparedIsolates } from '../../src/worker/prepared.ts';

/** Isolates of an image that counts, and what was done with its isolates, which are numbered. */
function counting() {
  const done: string[] = [];
  let made = 0;
  const prepare = (heapMb: number) => {
    const number = ++made;
    done.push(`made ${number} of ${heapMb} MB`);
    return { heapMb, number, cpuMs: 0, heapBytes: 0, dispose: () => done.push(`disposed of ${number}`) };
  };
  const image: never = { prepare } as never;
  const isolates = new PreparedIsolates(image, 8, (isolate) => done.push(`warmed ${Reflect.get(isolate, 'number')}`) > 0);
  return { isolates, take: (): string[] => done.splice(0) };
}

describe('the isolates that a worker keeps ready', () => {
  it('a step makes one, the next warms it up, the third makes a warm spare, and further steps do nothing', () => {
    const { isolates, take } = counting();
    const steps = [1, 2, 3, 4].map(() => {
      isolates.step();
      return take();
    });
    expect(steps).toEqual([['made 1 of 8 MB'], ['warmed 1'], ['made 2 of 8 MB', 'warmed 2'], []]);
  });

  it('runs in a row make one isolate each, and only what is at rest warms one up', () => {
    const { isolates, take } = counting();
    for (let run = 0; run < 5; run++) {
      isolates.take(8);
      isolates.step();
    }
    expect(take()).toEqual([1, 2, 3, 4, 5, 6].map((number) => `made ${number} of 8 MB`));
  });

  it('no isolate is given twice, the newest is given first, and the other serves the next run without a new one', () => {
    const { isolates, take } = counting();
    for (let step = 0; step < 3; step++) isolates.step();
    take();
    const given = [isolates.take(8), isolates.take(8), isolates.take(8)].map(({ prepared }) => Reflect.get(prepared, 'number'));
    expect([given, take()]).toEqual([[2, 1, 3], ['made 3 of 8 MB']]);
  });

  it('isolates with the heap of another limit are thrown away', () => {
    const { isolates, take } = counting();
    for (let step = 0; step < 3; step++) isolates.step();
    take();
    expect(Reflect.get(isolates.take(16).prepared, 'heapMb')).toBe(16);
    expect(take()).toEqual(['disposed of 1', 'disposed of 2', 'made 3 of 16 MB']);
    isolates.step();
    expect(take()).toEqual(['made 4 of 16 MB']);
  });

  it('one that is kept under a number is given to that number alone, once, and for its heap limit only', () => {
    const { isolates, take } = counting();
    const { prepared } = isolates.take(8, 1);
    isolates.keep(1, prepared, 8);
    const next = [isolates.take(8), isolates.take(8, 2), isolates.take(8, 1), isolates.take(8, 1)].map((ready) => ready.prepared);
    expect(next.map((isolate) => Reflect.get(isolate, 'number'))).toEqual([2, 3, 1, 4]);
    for (const number of [1, 2]) isolates.keep(number, prepared, 8);
    take();
    expect(Reflect.get(isolates.take(16, 1).prepared, 'heapMb')).toBe(16);
    isolates.discard([2, 3]);
    expect(take()).toEqual(['disposed of 1', 'made 5 of 16 MB', 'disposed of 1']);
  });

  it('one whose heap has grown is not kept, and the next is made before a run waits for it', () => {
    const { isolates, take } = counting();
    const { prepared } = isolates.take(8, 1);
    isolates.keep(1, { ...prepared, heapBytes: 17 * 1024 * 1024 }, 8);
    expect(take()).toEqual(['made 1 of 8 MB', 'disposed of 1', 'made 2 of 8 MB']);
    expect(Reflect.get(isolates.take(8, 1).prepared, 'number')).toBe(2);
  });
});
