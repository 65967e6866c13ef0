/** Types for the test that finds members without a doc comment. */

interface Base {
  /** Described here. */
  readonly base: number;
  readonly bare: number;
}

interface Described extends Base {
  /** Described here too. */
  readonly described: number;
}

/** A class whose interface describes a part of it. */
export class Round implements Described {
  static readonly code = 'ROUND';
  readonly described = Number('1');
  readonly base = Number('2');
  readonly bare = Number('3');
  private readonly hidden = Number('4');

  sum(): number {
    return this.base + this.bare + this.hidden;
  }
}

/** A union of object types. */
export type Shape = {
  /** Its own comment. */
  readonly own: string;
  readonly bare: string;
} & (
  | { readonly kind: 'point'; readonly at: number }
  /** One comment for the case. */
  | { readonly kind: 'circle'; readonly radius: number; readonly both: number; readonly never: null }
);
