import { NeuroScriptError } from '../wire/errors.ts';

/** The reason why a store cannot be used. */
export type StoreDetail = 'foreign' | 'older' | 'newer' | 'damaged' | 'busy' | 'io' | 'order' | 'refused';

/**
 * A store's file belongs to another program, is damaged or cannot be reached, the store was called in an impossible order, or it refuses
 * what it could not read again.
 */
export class StoreError extends NeuroScriptError {
  static readonly code = 'ERR_STORE';
  /** Which of these it is. */
  readonly detail: StoreDetail;
  constructor(detail: StoreDetail, message: string, options?: ErrorOptions) {
    super(StoreError.code, message, options);
    this.detail = detail;
  }
}
