/** A public key of receipts. */
export interface PlainKey {
  readonly kid: string;
  verifies(purpose: string, content: unknown, signature: string): boolean;
}

export function keyOf(file: string): PlainKey;
export function checkReceipt(
  file: string,
  key: PlainKey,
): { readonly faults: readonly string[]; readonly withheld: readonly string[] };
export function checkLog(log: string, checkpoints: readonly string[], key: PlainKey): string | null;
export function canonical(value: unknown): string;
