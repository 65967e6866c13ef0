/** Most UTF-16 units in the buffers of one root. The oldest text is dropped first. */
const MAX_UNITS = 1024 * 1024;

/** The buffer that a program names `self`. */
const SELF_BUFFER = 'default_self_buffer';

/**
 * The whispers of programs outside of turns, by target, for the application to read. The forks of a root share one object, which holds
 * the last 1 Mi UTF-16 units of all targets together.
 */
export class TextBuffers {
  #lines: { readonly to: string; readonly text: string }[] = [];
  /** Index of the oldest line. Dropped lines before it are removed once they are more than half of the list. */
  #first = 0;
  #units = 0;
  #dropped = 0;

  /** The number of lines that were dropped so far. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The targets with text, in the order of their oldest line. */
  names(): readonly string[] {
    return [...new Set(this.#lines.slice(this.#first).map(({ to }) => to))];
  }

  /** All whispers to a target, each with a line feed; '' when there are none. The target is `self` when absent. */
  read(name: string = SELF_BUFFER): string {
    return this.#lines
      .slice(this.#first)
      .filter(({ to }) => to === name)
      .map(({ text }) => `${text}\n`)
      .join('');
  }

  /** As {@link read}, and removes the text. */
  take(name: string = SELF_BUFFER): string {
    const text = this.read(name);
    this.#lines = this.#lines.slice(this.#first).filter(({ to }) => to !== name);
    this.#first = 0;
    this.#units -= text.length;
    return text;
  }

  /** Adds a whisper. Only the runtime calls this. */
  append(to: string, text: string): void {
    this.#lines.push({ to, text });
    this.#units += text.length + 1;
    for (let oldest = this.#lines[this.#first]; oldest !== undefined && this.#units > MAX_UNITS; ) {
      this.#units -= oldest.text.length + 1;
      this.#dropped++;
      oldest = this.#lines[++this.#first];
    }
    if (this.#first < this.#lines.length / 2) return;
    this.#lines = this.#lines.slice(this.#first);
    this.#first = 0;
  }
}
