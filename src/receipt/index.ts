/**
 * Receipts of sessions and checkpoints of decision logs: signed statements that third parties verify. Entry point
 * `neuroscript-runtime/receipts`.
 */

export {
  CHECKPOINT_FORMAT,
  type Checkpoint,
  type CheckpointStatement,
  CheckpointWalk,
  formatCheckpoint,
  issueCheckpoint,
  readCheckpoint,
} from './checkpoint.ts';
export { ReceiptError } from './error.ts';
export {
  formatReceiptKey,
  generateReceiptKey,
  isReceiptKey,
  parseReceiptKey,
  publicReceiptKey,
  type ReceiptKey,
} from './key.ts';
export {
  formatReceipt,
  issueReceipt,
  type Manifest,
  type ManifestTurn,
  type Part,
  RECEIPT_FORMAT,
  type Receipt,
  type ReceiptSession,
  readReceipt,
  withhold,
} from './receipt.ts';
export { checkReceipt, type ReceiptCheck, type ReceiptReport, type ReceiptTurn, verifyReceipt } from './verify.ts';
