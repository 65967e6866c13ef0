import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';

export interface Asset {
  readonly bytes: Buffer;
  readonly type: string;
}

/** The built page: its files by their paths, such as `assets/index-1a2b.js`, and `index.html`. */
export type Assets = ReadonlyMap<string, Asset>;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** Reads the files of the built page; null when it is not built. Files of other types are left out. */
export function readAssets(folder: string): Assets | null {
  if (!statSync(join(folder, 'index.html'), { throwIfNoEntry: false })?.isFile()) return null;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.flatMap(({ parentPath, name }) => {
      const path = join(parentPath, name);
      const type = TYPES[extname(name)];
      return type === undefined ? [] : [[relative(folder, path).split(sep).join('/'), { bytes: readFileSync(path), type }]];
    }),
  );
}
