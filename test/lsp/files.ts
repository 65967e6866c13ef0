import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = new URL('../conformance/', import.meta.url).pathname;

export function filesIn(): readonly string[] {
  return [FOLDER, join(FOLDER, 'programs')].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.ns'))
      .sort()
      .map((name) => join(folder, name)),
  );
}
