import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Process ids of the children of a process; its threads may each have some. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '))
    .filter((child) => child !== '')
    .map(Number);
}

/** Waits for something that other processes bring about. */
export async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 50_000;
  while (!condition() && performance.now() < end) await sleep(10);
  expect(condition()).toBe(true);
}

/** Whether a process runs; one that has ended and is still listed does not. */
export function lives(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
