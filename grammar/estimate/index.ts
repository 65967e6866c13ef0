/** What other parts may use of the cost estimate. */
export type { FuelCosts } from './costs.ts';
export { type Estimate, type EstimateOptions, estimate } from './estimate.ts';
