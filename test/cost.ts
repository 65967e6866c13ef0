/**
 * CPU time, in milliseconds, that this process takes for some work: the least of `rounds` tries. What else the machine does adds to a try
 * and takes nothing away, and elapsed time would count the waiting for a core, too.
 */
export function cpuMs(work: () => void, rounds = 3): number {
  const tries = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...tries);
}
