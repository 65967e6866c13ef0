/** The numbers of the tables of prices. A run that names none has the first: so have all records of versions that knew no other. */
export const PRICE_TABLES = [1, 2] as const;

/** The number of a table of prices. */
export type PriceTable = (typeof PRICE_TABLES)[number];

/** Whether this version has a table of prices of this number. */
export function isPriceTable(value: unknown): value is PriceTable {
  return PRICE_TABLES.some((table) => table === value);
}
