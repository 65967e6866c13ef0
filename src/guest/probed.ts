import type { Exec } from './frame.ts';
import type { Machine } from './machine.ts';
import type { Probe, Spot } from './probe.ts';

/**
 * The body of a procedure, a handler or a command block that tells the probe when its fork begins and ends. `prepaid` as for a statement: that of
 * the first one.
 */
export function probedFork(probe: Probe, body: Exec, spot: Spot, prepaid: number): Exec {
  return (frame) => {
    const { node, line } = probe;
    probe.fork(spot, frame, prepaid);
    try {
      return body(frame);
    } finally {
      probe.leave(frame, node, line);
    }
  };
}

/** Runs something that counts for a place, in a measured run. */
export function within<T>({ probe }: Machine, spot: Spot | null, run: () => T): T {
  return probe === null || spot === null ? run() : probe.within(spot, run);
}

/** Runs a statement that no block runs: one of those whose calls run together. */
export function asStatement<T>({ probe }: Machine, spot: Spot | null, run: () => T): T {
  if (probe === null || spot === null) return run();
  const { node, line } = probe;
  probe.statement(spot, 0);
  try {
    return run();
  } finally {
    probe.back(node, line);
  }
}
