import { expect, it } from 'vitest';
import { folder } from './spawn.ts';
import { within } from './terminal.ts';

it('says once that a file is no SQLite file', async () => {
  const cwd = folder({ 'noise.bin': Buffer.alloc(5000, 7) });
  expect(await within(['store', 'migrate', '--store', 'noise.bin'], { cwd })).toMatchObject({
    code: 2,
    stderr: 'neuroscript: noise.bin is not a database: it is not a SQLite file\n',
  });
});
