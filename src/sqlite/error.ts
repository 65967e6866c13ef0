import { NeuroScriptError } from '../wire/errors.ts';

/** Why a store cannot be used. */
export type StoreDetail = 'foreign' | 'newer' | 'damaged' | 'busy' | 'io' | 'order';

/** The store's file is not one of ours, is damaged, cannot be reached, or was used in an order that does not exist. */
export class StoreError extends NeuroScriptError {
  static readonly code = 'ERR_STORE';
  readonly detail: StoreDetail;
  constructor(detail: StoreDetail, message: string, options?: ErrorOptions) {
    super(StoreError.code, message, options);
    this.detail = detail;
  }
}
