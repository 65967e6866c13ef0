import type { LimitKey } from './limits.ts';
import type { ForeseenCall } from './sourcereports.ts';

/** What a policy says of a call before it is made. Call limits count when it is made. */
export interface PreviewVerdict {
  readonly allowed: boolean;
  /** Why, and which rule of the policy decides; null where there is no such tool. */
  readonly reason: string;
  readonly rule: string | null;
  /** Whether a human must approve each call. */
  readonly approval: boolean;
  /**
   * `breaks`: the policy refuses every such call. `may`: it may refuse one, or ask a person, depending on arguments, earlier calls or where
   * values come from. `keeps`: it refuses none. The verdict at the call is never stricter.
   */
  readonly policy: 'keeps' | 'may' | 'breaks';
  /** The way of a value from its source to this call, for a rule about where values come from; empty for other rules. */
  readonly path: readonly PathStep[];
}

/** A step on the way of a value. */
export interface PathStep {
  /** A source or a tool, as the policy knows it. */
  readonly what: string;
  readonly file: string | null;
  /** From 1; null for what no line of a program brings in. */
  readonly line: number | null;
}

/** Calls that a program can make at one place. */
export interface PreviewCall extends Omit<ForeseenCall, 'origins'> {
  /** US dollars for all these calls together; absent for a call without a price. */
  readonly cost?: PreviewCost | undefined;
  /** What one such call cost in recorded turns; absent without any. */
  readonly usually?: UsualCost | undefined;
  /** From 1. */
  readonly number: number;
  /** What the tool does outside of the program; null for an unknown tool, `ask` and `promptuser`. */
  readonly effects: 'none' | 'read' | 'write' | null;
  /** Null for `ask` and `promptuser`, which no policy judges. */
  readonly verdict: PreviewVerdict | null;
  /** Numbers of the calls whose results decide whether or how often it is made; absent for none, and where that is not known. */
  readonly decidedBy?: readonly number[] | undefined;
  /** The limit that bounds the calls, where the program sets no lower bound; null otherwise. */
  readonly limitedBy: LimitKey | null;
}

/** The most that a run takes. */
export interface PreviewBound {
  readonly most: number;
  /** `program`: the program cannot take more. `limit`: the limit of the run stops it there. */
  readonly by: 'program' | 'limit';
}

/** What calls cost by their prices, US dollars. */
export interface PreviewCost {
  /** What every run costs that ends without an error. */
  readonly least: number;
  /** Null where nothing but the limit `cost` bounds it. */
  readonly most: number | null;
}

/** What one call cost in recorded turns. */
export interface UsualCost {
  /** The median, US dollars: half of the calls cost as much or less. */
  readonly usd: number;
  /** How many calls were recorded. */
  readonly calls: number;
}

/** What a run costs, US dollars. */
export interface PreviewCosts extends PreviewBound {
  /** What every run costs that ends without an error. */
  readonly least: number;
}

/** What a program can do, before it runs. */
export interface Preview {
  readonly version: 1;
  /** The sources, each with the SHA-256 of its text, in hexadecimal. */
  readonly sources: readonly { readonly name: string; readonly sha256: string }[];
  /** Every call that the program can make of the host. Tools without effects that run inside the isolate are not calls of the host. */
  readonly calls: readonly PreviewCall[];
  readonly fuel: PreviewBound;
  readonly memoryBytes: PreviewBound;
  readonly outputBytes: PreviewBound;
  readonly scratchBytes: PreviewBound;
  readonly toolCalls: PreviewBound;
  /** By the prices of tools; with an `ask`, whose model may cost anything, by the limit. */
  readonly cost: PreviewCosts;
  /** Why the program sets no bound of its fuel, and at which place; null when it sets one. */
  readonly because: { readonly message: string; readonly file: string; readonly line: number; readonly column: number } | null;
}
