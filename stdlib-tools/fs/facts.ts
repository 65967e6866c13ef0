import type { Stats } from 'node:fs';

/** The facts about a file or directory that a script may know. */
export interface Facts {
  readonly directory: boolean;
  readonly size: number;
  readonly modified: Date;
  readonly mode: number;
}

/** The same, with name and path. */
export interface Shown extends Facts {
  readonly name: string;
  readonly path: string;
}

/** Takes the facts from the file system's answer. */
export function facts(stats: Stats): Facts {
  return { directory: stats.isDirectory(), size: stats.size, modified: stats.mtime, mode: stats.mode };
}

/** The facts under the keys of `tool.fs.Stat` and `tool.fs.Walk`. */
export function described({ directory, size, modified, mode }: Facts) {
  return {
    size_bytes: size,
    is_dir: directory,
    modified_unix: Math.floor(modified.getTime() / 1000),
    modified_rfc3339: modified.toISOString(),
    mode_string: modeString(directory, mode),
  };
}

function modeString(directory: boolean, mode: number): string {
  const bits = [...'rwxrwxrwx'].map((letter, index) => ((mode >> (8 - index)) & 1 ? letter : '-'));
  return `${directory ? 'd' : '-'}${bits.join('')}`;
}
