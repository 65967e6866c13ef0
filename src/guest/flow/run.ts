import { InternalError } from '../errors.ts';
import type { Machine } from '../machine.ts';
import type { Flow } from './flow.ts';

/** The labels of a run whose code is compiled for them. */
export function flowOf({ machine }: { readonly machine: Machine }): Flow {
  if (machine.flow === null) throw new InternalError('the code of a run without flow rules is compiled for labels');
  return machine.flow;
}
