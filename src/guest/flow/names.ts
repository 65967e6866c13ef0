import type { Frame } from '../frame.ts';
import type { Machine } from '../machine.ts';
import { lookup } from '../variables.ts';
import type { Flow } from './flow.ts';
import type { Label } from './origins.ts';

/** The label of all that a name means in a frame: of its variable, else of the global or constant. */
export function labelOf(machine: Machine, flow: Flow, frame: Frame, name: string): Label {
  return flow.named(frame, name, lookup(machine, frame, name));
}
