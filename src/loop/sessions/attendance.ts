import { callBack } from '../../wire/callback.ts';
import type { Heartbeat } from './heartbeat.ts';

/** How a process that a system gives its sessions takes part, see `SessionCoordinator.attend`. */
export interface Attendance {
  /** The keys that the process knows now; none when absent. */
  readonly kids?: () => readonly string[];
  /** Receives what went wrong; it is tried again. Its own failure has no effect. */
  readonly onError?: (error: unknown) => unknown;
}

/** The parts of a coordinator that take part. */
interface Attending {
  readonly leaseMs: number;
  heartbeat(kids?: () => readonly string[]): Heartbeat;
  tend(): Promise<unknown>;
}

/** As `SessionCoordinator.attend` says. */
export function attending(coordinator: Attending, { kids, onError = () => {} }: Attendance): AsyncDisposable {
  const heartbeat = coordinator.heartbeat(kids);
  const failed = (error: unknown): void =>
    callBack(
      () => onError(error),
      () => {},
    );
  heartbeat.beat().catch(failed);
  heartbeat.start();
  const tend = setInterval(() => void coordinator.tend().catch(failed), coordinator.leaseMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(tend);
      await heartbeat.leave();
    },
  };
}
