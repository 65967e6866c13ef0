/**
 * Hosts that drive the sessions of a shared store together, and what opens sessions for them. Entry point `neuroscript-runtime/host`.
 */

export {
  Host,
  type HostOptions,
  type HostState,
  type OpenOptions,
  openSession,
  type Profile,
  SessionCoordinator,
  type SessionCoordinatorInit,
  type SessionSetup,
  type TakeApart,
  type TurnApart,
  tightestCeilings,
  turnProcess,
} from '../loop/index.ts';
