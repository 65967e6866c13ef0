/** The cost estimate, as other parts may use it. */
export type { FuelCosts } from './costs.ts';
export type { ForeseenScalar, ForeseenType, ForeseenValue } from './describe.ts';
export { type Estimate, type EstimateOptions, estimate } from './estimate.ts';
export {
  type Foreseen,
  type ForeseenCall,
  type ForeseenCondition,
  type ForeseenOrigin,
  type ForeseenOrigins,
  type ForeseeOptions,
  foresee,
} from './foresee.ts';
export type { GivenJson } from './given.ts';
