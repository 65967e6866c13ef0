/** Most UTF-16 units that the buffers of one root hold; what is older goes. */
const MAX_UNITS = 1024 * 1024;

/** The buffer that a program means by `self`. */
export const SELF_BUFFER = 'default_self_buffer';

/**
 * What programs whispered outside of turns, by target: named texts that the application reads when it wants to. A root has
 * one, and its forks share it. It holds the last 1 Mi UTF-16 units of all targets together.
 */
export class TextBuffers {
  #lines: { readonly to: string; readonly text: string }[] = [];
  /** Lines before this one are gone; they are cleared away when they are the most. */
  #first = 0;
  #units = 0;
  #dropped = 0;

  /** Lines that had to go to make room, since the beginning. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Targets that have text, in the order of their oldest line. */
  names(): readonly string[] {
    return [...new Set(this.#lines.slice(this.#first).map(({ to }) => to))];
  }

  /** Everything whispered to a target, each whisper with a line feed; '' when there is nothing. `self` when absent. */
  read(name: string = SELF_BUFFER): string {
    return this.#lines
      .slice(this.#first)
      .filter(({ to }) => to === name)
      .map(({ text }) => `${text}\n`)
      .join('');
  }

  /** As {@link read}, and forgets it. */
  take(name: string = SELF_BUFFER): string {
    const text = this.read(name);
    this.#lines = this.#lines.slice(this.#first).filter(({ to }) => to !== name);
    this.#first = 0;
    this.#units -= text.length;
    return text;
  }

  /** For the runtime, when a program whispers. */
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
