/** The cost estimate's face for other parts. */
export type { FuelCosts } from './costs.ts';
export { type Estimate, type EstimateOptions, estimate } from './estimate.ts';
