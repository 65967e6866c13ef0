// @module-tag slow
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRuntime } from '../../src/runtime/index.ts';
import { cacheRoleOf } from '../../src/sandbox/codecache.ts';
import { checkFiles, launch, packageFiles, type WorkerFiles } from '../../src/sandbox/launch.ts';
import { WorkerProcess } from '../../src/sandbox/worker.ts';
import { pureTools } from '../../stdlib-tools/index.ts';
import { tempFolder } from '../folder.ts';

const MB = 1024 * 1024;

/** Files that no worker of this process has started from yet. */
function copies(): WorkerFiles {
  const folder = tempFolder();
  const { worker, guest } = packageFiles();
  const files = { worker: join(folder, 'worker.mjs'), guest: join(folder, 'guest.js') };
  copyFileSync(worker, files.worker);
  copyFileSync(guest, files.guest);
  return checkFiles(files);
}

/** What a new worker was told, whether it says that V8 used caches, and how it ended if it could not be used. */
async function start(files: WorkerFiles) {
  const caches = cacheRoleOf(files);
  const launched = launch(files, 16 * MB, null, caches);
  let used: boolean | undefined;
  const worker = new WorkerProcess({
    ...launched,
    caches: {
      ...caches,
      settle: (said) => {
        used ??= said;
        caches.settle(said);
      },
    },
  });
  const failed = await worker.ready.then(
    () => null,
    (error: unknown) => String(error),
  );
  worker.kill();
  await worker.gone;
  return { told: typeof caches.order === 'object' ? 'take' : caches.order, used, failed };
}

const NONE = { told: 'none', used: undefined, failed: null };
const MAKE = { told: 'make', used: undefined, failed: null };
const TAKE = { told: 'take', used: true, failed: null };

describe('code caches of a worker', () => {
  it('the second worker makes them, and V8 uses them in later ones', async () => {
    const files = copies();
    expect([await start(files), await start(files), await start(files), await start(files)]).toEqual([NONE, MAKE, TAKE, TAKE]);
  });

  it('a program does the same in a worker that starts from them', async () => {
    const source = 'command\n  emit 21 * 2\n  emit tool.str.ToUpper("a")\nendcommand\n';
    await using runtime = await createRuntime({
      files: copies(),
      isolation: 'process',
      concurrency: 1,
      tools: pureTools(),
      policy: { allow: ['*'] },
    });
    const outputs: string[] = [];
    for (let run = 0; run < 4; run++) {
      const { emits, error } = await runtime.run(source);
      outputs.push(error?.message ?? emits.join());
    }
    expect(new Set(outputs)).toEqual(new Set(['42,A']));
  });

  it('files of another build have none of them, and get their own', async () => {
    const files = copies();
    // The files are as long as before: V8 would not notice.
    const rename = (file: string): void => {
      const text = readFileSync(file, 'utf8');
      writeFileSync(file, text.replace(/ build [0-9a-f]{64}\n$/, ` build ${'0'.repeat(64)}\n`));
    };
    expect([await start(files), await start(files), await start(files)]).toEqual([NONE, MAKE, TAKE]);
    rename(files.guest);
    expect(await start(files)).toEqual({ ...TAKE, used: false });
    // Files of two builds have no caches.
    expect([await start(files), await start(files)]).toEqual([MAKE, MAKE]);
    rename(files.worker);
    expect([await start(files), await start(files)]).toEqual([MAKE, TAKE]);
    copyFileSync(packageFiles().worker, files.worker);
    copyFileSync(packageFiles().guest, files.guest);
    expect(await start(files)).toEqual({ ...TAKE, used: false });
  });

  it('a worker starts without those that V8 rejects', async () => {
    const files = copies();
    await start(files);
    const { keep } = cacheRoleOf(files);
    const build = readFileSync(files.worker, 'utf8').split(' build ').at(-1)?.trim() ?? '';
    keep?.({ t: 'compiled', build, caches: Array(3).fill(Buffer.alloc(4096, 7).toString('base64')) });
    expect(await start(files)).toEqual({ ...TAKE, used: false });
  });

  it.each([
    ['nobody ordered', 1],
    ['came before', 2],
  ])('a worker that sends caches that %s is not used', async (_what, frames) => {
    const files = copies();
    const frame = JSON.stringify({ t: 'compiled', build: 'b', caches: [] });
    const bytes = `Buffer.concat([Buffer.from([0, 0, 0, ${frame.length}]), Buffer.from('${frame}')])`;
    writeFileSync(
      files.worker,
      `import { writeSync } from 'node:fs';
for (let n = 0; n < ${frames}; n++) writeSync(3, ${bytes});
setInterval(() => {}, 1000);`,
    );
    if (frames === 2) cacheRoleOf(files);
    expect((await start(files)).failed).toMatch(frames === 1 ? /its first frame is 'compiled'/ : /it sent code caches twice/);
  });
});
