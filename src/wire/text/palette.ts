/** How a terminal shows text: its styles, which put marks around a text or leave it as it is, and its width. */
export interface Palette {
  /** Columns of a line, from 40 to 120; 80 where no terminal shows the text. */
  readonly columns: number;
  /** For headings. */
  readonly bold: (text: string) => string;
  /** For what matters less. */
  readonly dim: (text: string) => string;
  /** For failures. */
  readonly red: (text: string) => string;
  /** For success. */
  readonly green: (text: string) => string;
  /** For warnings. */
  readonly yellow: (text: string) => string;
}

const same = (text: string): string => text;

/** No styles, 80 columns: for files and pipes. */
export const plainPalette: Palette = { columns: 80, bold: same, dim: same, red: same, green: same, yellow: same };
