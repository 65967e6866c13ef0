/** The cost tables that an estimate is made with. They belong to the interpreter; here they are data. */

/** What an interpreter charges. Each table maps a kind of work to its price; see the published tables. */
export interface FuelCosts {
  /** Fuel for steps. */
  readonly steps: Prices<'statement' | 'pass' | 'operation' | 'call' | 'raise' | 'written' | 'compared' | 'host' | 'pure'>;
  /** Units of data for one fuel. */
  readonly data: Prices<'concat' | 'compare' | 'scan' | 'number' | 'text' | 'json' | 'copy'>;
  /** Bytes that values count. */
  readonly values: Prices<'text' | 'unit' | 'list' | 'item' | 'map' | 'entry' | 'other' | 'frame' | 'slot'>;
  /** Values that count fewer bytes in all are never recounted, which would cost fuel too. */
  readonly recountBytes: number;
  /** Most items that one write pads a list with. */
  readonly padding: number;
}

type Prices<Kind extends string> = Readonly<Record<Kind, { readonly amount: number }>>;
