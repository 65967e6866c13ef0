import type { HostPlan, Told } from './plan.ts';
import type { Reached } from './rig.ts';

export const plan: HostPlan = JSON.parse(process.argv[2] ?? '');

export const tell = (told: Told): void => void process.send?.(told);

const told = Promise.withResolvers<void>();

/** Ends the wait at the moment of the plan. */
export const goOn = told.resolve;

/** Waits if this is the moment of the plan. */
export const reached: Reached = async (step, sid, turn) => {
  if (step !== plan.hold?.step || turn !== plan.hold.turn) return;
  tell({ kind: 'held', sid });
  await told.promise;
};
