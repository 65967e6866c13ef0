import type { FuelCosts } from '../../grammar/index.ts';
import { CENSUS_FLOOR, DATA_FUEL, MAX_PADDING, SPACE_UNITS, STEP_FUEL, VALUE_BYTES } from './costs.ts';

/** The prices as bounds of fuel take them. One unit may be paid for in several rows of {@link DATA_FUEL}: the bounds take them together. */
export const BOUNDING_COSTS: FuelCosts = {
  steps: { ...STEP_FUEL, pure: { amount: STEP_FUEL.pure.amount + STEP_FUEL.pureCall.amount } },
  data: {
    ...DATA_FUEL,
    text: together(DATA_FUEL.text.amount, DATA_FUEL.line.amount),
    scan: together(DATA_FUEL.scan.amount, DATA_FUEL.same.amount, DATA_FUEL.character.amount),
    // A unit is white space or a digit; digits among underscores may be read twice.
    number: together(DATA_FUEL.number.amount, DATA_FUEL.same.amount, SPACE_UNITS / (2 * STEP_FUEL.space.amount)),
  },
  values: VALUE_BYTES,
  recountBytes: CENSUS_FLOOR,
  padding: MAX_PADDING,
};

function together(...each: readonly number[]): { readonly amount: number } {
  return { amount: 1 / each.reduce((sum, per) => sum + 1 / per, 0) };
}
