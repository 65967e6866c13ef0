/**
 * CPU time, in milliseconds, that this process takes for some work: the least of `rounds` tries. What else the machine does adds to a try
 * and takes nothing away, and elapsed time would count the waiting for a core, too. A try below `enough` is the last one, for a caller that only asks
 * whether the least is below it.
 */
export function cpuMs(work: () => void, rounds = 3, enough = 0): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds && least >= enough; round++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
