import { describe, expect, it } from 'vitest';
import { flowOf, type Job, JobQueue, type TenantShare } from '../../src/sandbox/jobqueue.ts';
import { BusyError } from '../../src/wire/errors.ts';

interface Named extends Job {
  readonly name: string;
}

function jobOf(name: string, tenant: Partial<TenantShare> | null = null, session: string | null = null): Named {
  const share = tenant === null ? null : { id: name.charAt(0), share: 1, ...tenant };
  return {
    name,
    depth: 0,
    flow: flowOf(share, session, name.charAt(0)),
    tenant: share,
    affinity: null,
    isolation: 'run',
    start: () => {},
    fail: () => {},
  };
}

/** The order in which a pool of one worker serves the jobs, each of which holds it for the time that `held` says. */
function served(jobs: readonly Named[], held: (job: Job) => number = () => 1): string[] {
  const queue = new JobQueue(1);
  const names = new Map<Job, string>(jobs.map((job) => [job, job.name]));
  for (const job of jobs) queue.push(job);
  return next(queue, jobs.length, held).map((job) => names.get(job) ?? '');
}

/** Serves so many jobs, one after another. */
function next(queue: JobQueue, count: number, held: (job: Job) => number = () => 1): Job[] {
  const order: Job[] = [];
  for (let job = queue.take(1); job !== undefined; job = order.length < count ? queue.take(1) : undefined) {
    queue.onBegun(job);
    queue.onEnded(job, held(job));
    order.push(job);
  }
  return order;
}

const many = (letter: string, count: number, tenant: Partial<TenantShare> | null = {}): Named[] =>
  Array.from({ length: count }, (_, n) => jobOf(`${letter}${n + 1}`, tenant));

/** A queue in which the flow of `letter` holds so many workers. */
function holding(workers: number, letter: string, held: number, tenant: Partial<TenantShare> | null): JobQueue {
  const queue = new JobQueue(workers);
  for (const job of many(letter, held, tenant)) queue.onBegun(job);
  return queue;
}

describe('issue 19: the order of waiting runs', () => {
  it('one run of a tenant waits for one of another tenant, not for twenty', () => {
    expect(served([...many('a', 20), jobOf('b1', {})]).indexOf('b1')).toBe(1);
  });

  it('is fair without tenants too: equal programs take turns with another program', () => {
    expect(served([...many('a', 20, null), jobOf('b1')]).indexOf('b1')).toBe(1);
  });

  it('gives a tenant with twice the share twice as many runs', () => {
    const order = served([...many('a', 12, { share: 2 }), ...many('b', 12)]).slice(0, 9);
    expect(order.filter((name) => name.startsWith('a'))).toHaveLength(6);
  });

  it('counts the time that a run held its worker: after one long run come many short ones', () => {
    const long = ({ tenant }: Job): number => (tenant?.id === 'a' ? 2500 : 1);
    const order = served([...many('a', 3), ...many('b', 11)], long);
    expect(order.indexOf('a2')).toBe(12);
  });

  it('keeps the order within a tenant', () => {
    expect(served(many('a', 5))).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
  });

  it('lets no tenant save up: one that was idle gets no more turns than one that waits', () => {
    const queue = new JobQueue(1);
    const [busy, idle] = [many('a', 30), many('b', 3)];
    for (const job of busy) queue.push(job);
    next(queue, 20);
    for (const job of idle) queue.push(job);
    const order = next(queue, 10);
    expect(order.slice(0, 6).filter(({ tenant }) => tenant?.id === 'b')).toHaveLength(3);
    expect(order.slice(0, 2).filter(({ tenant }) => tenant?.id === 'a')).toHaveLength(1);
  });
});

describe('issue 19: the workers that a flow may hold', () => {
  it('a tenant with slow tools leaves workers for others', () => {
    expect(holding(16, 'a', 11, {}).mayBegin(jobOf('a', {}), 5)).toBe(true);
    expect(holding(16, 'a', 12, {}).mayBegin(jobOf('a', {}), 4)).toBe(false);
    expect(holding(16, 'a', 12, {}).mayBegin(jobOf('b', {}), 4)).toBe(true);
  });

  it('a flow without a tenant leaves one of many workers, and may hold all of a few', () => {
    expect(holding(16, 'a', 15, null).mayBegin(jobOf('a'), 1)).toBe(false);
    expect(holding(16, 'a', 14, null).mayBegin(jobOf('a'), 2)).toBe(true);
    expect(holding(16, 'a', 15, null).mayBegin(jobOf('b'), 1)).toBe(true);
    expect(holding(4, 'a', 3, null).mayBegin(jobOf('a'), 1)).toBe(true);
  });

  it('a tenant holds as many as its concurrency says', () => {
    const two = { concurrency: 2 };
    expect(holding(16, 'a', 1, two).mayBegin(jobOf('a', two), 15)).toBe(true);
    expect(holding(16, 'a', 2, two).mayBegin(jobOf('a', two), 14)).toBe(false);
  });

  it('a run that may not begin holds up no other', () => {
    const one = { concurrency: 1 };
    const queue = holding(16, 'a', 1, one);
    queue.push(jobOf('a2', one));
    queue.push(jobOf('b1', one));
    expect(queue.take(15)?.tenant?.id).toBe('b');
    expect(queue.take(15)).toBeUndefined();
    expect(queue.ready(15)).toBe(0);
  });

  it('a tenant that waits with too many runs is refused, with the limit and both amounts', () => {
    const queue = new JobQueue(16);
    const two = { queueLength: 2 };
    for (const job of many('a', 2, two)) queue.push(job);
    const refused = { limit: 'tenantQueueLength', allowed: 2, used: 2, code: 'ERR_BUSY' };
    expect(() => queue.checkPlaces(jobOf('a', two), 100)).toThrow(BusyError);
    expect(() => queue.checkPlaces(jobOf('a', two), 100)).toThrow(expect.objectContaining(refused));
    queue.checkPlaces(jobOf('b', two), 100);
    for (const job of many('c', 30)) queue.push(job);
    expect(() => queue.checkPlaces(jobOf('c', {}), 10)).toThrow(BusyError);
  });
});

describe('issue 19: the memory of the queue', () => {
  it('idle flows are forgotten, even while others wait and an attacker chooses the names', () => {
    const queue = new JobQueue(2);
    for (const job of many('w', 3)) queue.push(job);
    for (let n = 0; n < 30_000; n++) {
      const job = jobOf('x', { id: `tenant-${n}` });
      queue.onBegun(job);
      // Each has had more than the others that wait.
      queue.onEnded(job, 10_000);
    }
    expect(queue.flows).toBeLessThan(10_100);
    next(queue, 3);
    expect(queue.flows).toBe(0);
  });
});
