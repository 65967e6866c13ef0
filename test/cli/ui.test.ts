import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { builtPage } from '../../src/cli/commands/ui.ts';
import { readAssets } from '../../src/ui/index.ts';
import { tempFolder } from '../folder.ts';
import { within } from './terminal.ts';

const folder = tempFolder();

it.each([
  [['--port', '65536'], '--port must be at most 65535'],
  [['--port', 'x'], "--port 'x' must be a whole number of at least 0"],
  [['--tools', 'tools.yaml'], '--tools needs --approve'],
])('issue 24: refuses %j before it opens anything', async (flags, message) => {
  const store = join(folder, 'refused.db');
  const refused = await within(['ui', '--store', store, ...flags]);
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
  expect(existsSync(store)).toBe(false);
});

it('issue 24: without the built page, one line says which command builds it', async () => {
  expect(readAssets(folder)).toBeNull();
  const built = await builtPage().catch((error: unknown) => error);
  if (!(built instanceof Map))
    expect(built).toMatchObject({
      code: 'ERR_USAGE',
      message: expect.stringMatching(/^the page is not built; run: npm [^\n]+$/),
    });
  else expect([...built.keys()]).toContain('index.html');
});

it('issue 24: --html writes nothing for a store that does not exist', async () => {
  const refused = await within(['sessions', 'show', 's', '--html', join(folder, 's.html'), '--store', join(folder, 'none.db')]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no such file') });
  expect(existsSync(join(folder, 's.html'))).toBe(false);
});
