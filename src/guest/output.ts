import { VALUE_UNITS, whisperedBytes } from '../wire/costs.ts';
import type { LimitKey } from '../wire/limits.ts';
import { grouped } from '../wire/text/grouped.ts';
import { encode, encodeText } from './codec.ts';
import { excess } from './describe.ts';
import type { Meter } from './meter.ts';
import { display } from './text.ts';
import { utf8Bytes } from './utf8.ts';
import type { Value } from './values.ts';
import { WORK } from './work.ts';

/** Units of buffered JSON from which on a frame is sent. */
const FLUSH_UNITS = 64 * 1024;
/** Checks of the clocks after which buffered output is sent: a few milliseconds of work. */
const FLUSH_CHECKS = 16;

/** The output of a run: measured, buffered, and sent to the host in `out` frames. */
export class Output {
  /** Bytes emitted so far, line feeds included. */
  bytes = 0;
  /** UTF-16 units of the emitted values as JSON, without texts, which are no longer than their emits. */
  #valueUnits = 0;
  #scratch = 0;
  #said = 0;
  #whispered = 0;
  #emits: string[] = [];
  #values: string[] = [];
  #whispers: string[] = [];
  #units = 0;
  #checks = 0;
  readonly #meter: Meter;
  readonly #send: (frame: string, follows: boolean) => void;

  constructor(meter: Meter, send: (frame: string, follows: boolean) => void) {
    this.#meter = meter;
    this.#send = send;
  }

  /** Bytes of what is buffered, for the census. */
  get heldBytes(): number {
    return 2 * this.#units;
  }

  /** One `emit`, as text and as value. An emit that breaches a limit is not sent. */
  emit(value: Value): void {
    this.#meter.pay(WORK.emit);
    const { emits } = this.#meter.limits;
    const said = this.#said + 1;
    if (said > emits) this.#refuse('emits', said, excess('the program emitted', said, 'times', emits));
    const text = display(this.#meter, value).toWellFormed();
    this.#count(text);
    this.#said = said;
    const textJson = encodeText(this.#meter, text);
    const valueJson = typeof value === 'string' ? textJson : encode(this.#meter, value, 'public');
    if (typeof value !== 'string') this.#countValue(valueJson.length);
    this.#emits.push(textJson);
    this.#values.push(valueJson);
    this.#buffered(textJson.length + valueJson.length);
  }

  /** One `whisper`, both sides as text. */
  whisper(handle: Value, data: Value): void {
    this.#meter.pay(WORK.emit);
    const { emits } = this.#meter.limits;
    const whispered = this.#whispered + 1;
    if (whispered > emits) this.#refuse('emits', whispered, excess('the program whispered', whispered, 'times', emits));
    const to = display(this.#meter, handle).toWellFormed();
    const text = display(this.#meter, data).toWellFormed();
    const bytes = whisperedBytes(utf8Bytes(this.#meter, to), utf8Bytes(this.#meter, text));
    this.#scratch = this.#sized('scratchBytes', this.#scratch + bytes, 'whispered');
    this.#whispered = whispered;
    const json = `{"to":${encodeText(this.#meter, to)},"text":${encodeText(this.#meter, text)}}`;
    this.#whispers.push(json);
    this.#buffered(json.length);
  }

  /** To be called at every check of the clocks. */
  tick(): void {
    if (this.#units > 0 && ++this.#checks >= FLUSH_CHECKS) this.flush();
  }

  /** Sends what is buffered. `follows`: the guest's next frame, or its end, comes at once. */
  flush(follows = false): void {
    this.#checks = 0;
    if (this.#units === 0) return;
    const [emits, values, whispers] = [this.#emits, this.#values, this.#whispers].map((list) => list.join(','));
    this.#emits = [];
    this.#values = [];
    this.#whispers = [];
    this.#units = 0;
    this.#send(`{"t":"out","emits":[${emits}],"values":[${values}],"whispers":[${whispers}]}`, follows);
  }

  #buffered(units: number): void {
    this.#units += units;
    if (this.#units >= FLUSH_UNITS) this.flush();
  }

  #count(text: string): void {
    const most = this.#meter.limits.lineBytes;
    let total = this.bytes;
    let feeds = -1;
    for (let start = 0; start <= text.length; ) {
      const feed = text.indexOf('\n', start);
      const end = feed < 0 ? text.length : feed;
      const line = utf8Bytes(this.#meter, text.slice(start, end));
      if (line > most) this.#refuse('lineBytes', line, excess('a line of the output has', line, 'bytes', most));
      total += line + 1;
      feeds++;
      start = end + 1;
    }
    this.#meter.pay(WORK.line, feeds);
    this.bytes = this.#sized('outputBytes', total, 'emitted');
  }

  #countValue(units: number): void {
    this.#valueUnits += units;
    const used = Math.ceil(this.#valueUnits / VALUE_UNITS);
    const allowed = this.#meter.limits.outputBytes;
    if (used > allowed)
      this.#refuse(
        'outputBytes',
        used,
        `the program emitted values of ${grouped(this.#valueUnits)} characters as JSON, more than ${VALUE_UNITS} times the ${grouped(allowed)} bytes of output allowed`,
      );
  }

  #sized(limit: 'outputBytes' | 'scratchBytes', bytes: number, what: string): number {
    const allowed = this.#meter.limits[limit];
    if (bytes > allowed) this.#refuse(limit, bytes, excess(`the program ${what}`, bytes, 'bytes in all', allowed));
    return bytes;
  }

  #refuse(limit: LimitKey, used: number, message: string): never {
    return this.#meter.breach(limit, used, message, 'say less, or keep large data in a tool and say where it is');
  }
}
