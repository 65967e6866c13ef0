import type { PreviewBound, PreviewCost } from '../../wire/preview.ts';
import type { Effects } from '../define/definition.ts';
import type { ConditionRow, OrderRule } from '../policy/options.ts';

/** Which answer an argument must be. */
export interface ReturnedBy {
  /** Number of a call of the grant. */
  readonly call: number;
  /**
   * `item`: what a program reads from the result by an index, a key or a loop: an item of a list, the value of a key, nil for a key that a
   * map lacks, a character of a text. The whole result when absent.
   */
  readonly part?: 'item';
}

/** Calls that may be made. */
export interface GrantedCall {
  /** By which other calls name it; different for all calls of a grant. */
  readonly number: number;
  /** Canonical name of a tool, `ask` or `promptuser`. */
  readonly tool: string;
  /** Conditions by argument, as in a policy. Arguments without one may be anything. */
  readonly when?: ConditionRow;
  /** Arguments that must be what another call returned in the same turn, or in the same run outside of a turn. */
  readonly returned?: Readonly<Record<string, ReturnedBy>>;
  /** Most calls; any number when absent. */
  readonly times?: number;
  /** For readers: what the tool does outside of the program. */
  readonly effects?: Effects;
  /** For readers: US dollars for all these calls; absent for a call without a price. */
  readonly cost?: Pick<PreviewCost, 'most'>;
  /** For readers: the labels that arguments may carry, where the policy has rules about origin. */
  readonly carries?: Readonly<Record<string, readonly string[]>>;
  /** For readers: what is not known of the call, in words. */
  readonly unknown?: readonly string[];
  /** For readers: where the call stands. */
  readonly at?: string;
}

/** The calls that a person allows a program to make. No other call may be made. */
export interface Grant {
  readonly version: 1;
  /** The sources from which the grant was made, with the SHA-256 of their texts in hexadecimal. */
  readonly programs: readonly { readonly name: string; readonly sha256: string }[];
  /** Calls that may be made. */
  readonly calls: readonly GrantedCall[];
  /** Rules about the calls before a call, as in a policy. */
  readonly order?: readonly OrderRule[];
  /** For readers: US dollars that a run costs; absent where no call has a price. */
  readonly cost?: PreviewBound;
  /** For readers: what is not known of the programs, in words. */
  readonly unknown?: readonly string[];
}

/** The calls of a grant that may change something, or of which nobody knows. */
export function mayChange({ effects }: { readonly effects?: Effects }): boolean {
  return effects !== 'none' && effects !== 'read';
}
