/** The prices that an estimate uses. They belong to the interpreter, which passes them in as data. */

/** The prices of an interpreter. Each table maps a kind of work to its price. */
export interface FuelCosts {
  /** Fuel for steps. */
  readonly steps: Prices<
    'statement' | 'pass' | 'operation' | 'call' | 'raise' | 'written' | 'compared' | 'host' | 'pure' | 'said'
  >;
  /** Units of data that cost one fuel. */
  readonly data: Prices<'concat' | 'compare' | 'scan' | 'number' | 'text' | 'json' | 'copy'>;
  /** Bytes that values take. */
  readonly values: Prices<'text' | 'unit' | 'list' | 'item' | 'map' | 'entry' | 'other' | 'frame' | 'slot'>;
  /** The interpreter recounts values only above this number of bytes. Recounting costs fuel. */
  readonly recountBytes: number;
  /** Most items that one write adds to pad a list. */
  readonly padding: number;
}

type Prices<Kind extends string> = Readonly<Record<Kind, { readonly amount: number }>>;
