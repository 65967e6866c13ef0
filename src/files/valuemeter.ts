import { MAX_DEPTH, type ValueCounts } from './json.ts';

const [LINE_FEED, RETURN, QUOTE, COMMA, BACKSLASH, COLON] = [0x0a, 0x0d, 0x22, 0x2c, 0x5c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Counts the values of JSON that arrives in pieces: of one message, or of each event of a stream, which ends with an empty line. The
 * bytes are not parsed.
 */
export class ValueMeter {
  readonly #ofEvents: boolean;
  readonly #most: ValueCounts;
  #containers = 0;
  #items = 0;
  #depth = 0;
  /** The keys so far of the map at each depth. */
  readonly #keys: number[] = [];
  #inText = false;
  #escaped = false;
  #lineIsEmpty = true;

  constructor(ofEvents: boolean, most: ValueCounts) {
    this.#ofEvents = ofEvents;
    this.#most = most;
  }

  /** Takes a piece. False once a message nests too deep, or has too many values. */
  take(piece: Uint8Array): boolean {
    const { containers, items, keys: mostKeys = Number.POSITIVE_INFINITY } = this.#most;
    for (const byte of piece) {
      if (this.#ofEvents && (byte === LINE_FEED || byte === RETURN)) {
        if (byte === LINE_FEED && this.#lineIsEmpty) {
          if (this.#containers > containers || this.#items > items) return false;
          this.#containers = this.#items = this.#depth = 0;
        }
        // A text of JSON has no line feed.
        if (byte === LINE_FEED) this.#lineIsEmpty = true;
        this.#inText = this.#escaped = false;
        continue;
      }
      this.#lineIsEmpty = false;
      if (this.#inText) {
        if (byte === QUOTE && !this.#escaped) this.#inText = false;
        this.#escaped = byte === BACKSLASH && !this.#escaped;
      } else if (byte === QUOTE) this.#inText = true;
      else if (byte === COMMA) this.#items += 1;
      else if (byte === OPEN_LIST || byte === OPEN_MAP) {
        this.#containers += 1;
        this.#depth += 1;
        if (this.#depth > MAX_DEPTH) return false;
        this.#keys[this.#depth] = 0;
      } else if (byte === COLON && this.#depth > 0) {
        const keys = (this.#keys[this.#depth] ?? 0) + 1;
        if (keys > mostKeys) return false;
        this.#keys[this.#depth] = keys;
      } else if ((byte === CLOSE_LIST || byte === CLOSE_MAP) && this.#depth > 0) {
        // The brackets of a comment close nothing of the message behind it.
        this.#depth -= 1;
      }
    }
    return this.#containers <= containers && this.#items <= items;
  }
}
