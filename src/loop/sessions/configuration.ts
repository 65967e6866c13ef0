import type { Durable } from '../record/kept.ts';
import type { JsonObject, SessionSetup } from './setup.ts';

/** What the host loop itself keeps in the configuration of a session; a host may keep more. */
export interface LoopConfiguration {
  /** Whether each call of a turn is kept; absent for a session whose turns are stored at their end alone. */
  readonly durable?: Durable;
}

/** The configuration of a session to open; null when it needs none. */
export function configurationOf(durable: Durable, more: JsonObject | null): JsonObject | null {
  const kept: LoopConfiguration = durable === 'call' ? { durable } : {};
  return more === null && durable === 'turn' ? null : { ...more, ...kept };
}

/** Whether the calls of a session's turns are kept. The session decides, because every host has to treat its turns alike. */
export function isKept({ configuration }: SessionSetup): boolean {
  return configuration?.['durable'] === 'call';
}
