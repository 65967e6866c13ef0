// @module-tag slow
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { Policy } from '../../src/tools/index.ts';
import * as standard from '../../stdlib-tools/index.ts';
import { tempFolder } from '../folder.ts';
import { calibration, PieceWatch } from './pieces.ts';

/** The promise of `docs/security.md`: the longest piece of the host's work, in calibration loops. */
const MULTIPLE = 10;
const BRANCHES = 64;
const TRIES = 5;
/** Ends a run that waits for files: its longest pieces come long before. */
const WALL_MS = 15_000;
const MB = 1024 * 1024;
/** Sixty-four of these are as much as the arguments of a block may have. */
const PART = 'a'.repeat(100_000);

const directory = realpathSync(tempFolder());
writeFileSync(join(directory, 'large'), 'a\n'.repeat(4 * MB - 32));
for (let n = 0; n < 500; n++) writeFileSync(join(directory, `file-${n}`), '');

const policy = new Policy({ context: 'config', allow: ['*'], grants: ['*:*:*'] });
const tools = [
  ...standard.capsuleTools(),
  ...standard.cryptoTools(),
  ...standard.fsTools({ directoryOf: async () => directory }),
  ...standard.memoryTools(),
  ...standard.policyTools(standard.pathRule(['/plans/*'])),
  ...standard.rootTools(),
  ...standard.scratchTools(),
  ...standard.storeTools(),
  ...standard.systemTools({ policy }),
  ...standard.timeTools(),
  ...standard.toolsTools(),
];

/** The dearest call of each tool; `p` is a text of the largest part, `i` counts the branches. */
const DEAREST: Readonly<Record<string, string>> = {
  'tool.capsule.List': '',
  'tool.capsule.Read': '"capsule/" + p + "@1"',
  'tool.capsule.Add': '{"name": "capsule/n" + i, "version": "1", "mime": "text/plain", "content": p}',
  'tool.crypto.Hash': 'p, "md5"',
  'tool.crypto.HMAC': 'p, "k", "sha512"',
  'tool.crypto.UUID': '',
  'tool.crypto.SignJWT': '{"sub": p}, "k", "HS512"',
  'tool.crypto.VerifyJWT': '"a." + p + ".b", "secret"',
  'tool.crypto.DecodeJWT': '"a." + p + ".b"',
  'tool.fs.Read': '"large"',
  'tool.fs.ReadBytes': '"large"',
  'tool.fs.Write': '"w" + i, p',
  'tool.fs.Append': '"w", p',
  'tool.fs.List': '".", true',
  'tool.fs.Walk': '"."',
  'tool.fs.Stat': '"large"',
  'tool.fs.Mkdir': '"d" + i',
  'tool.fs.Delete': '"none" + i',
  'tool.fs.Move': '"file-" + i, "moved-" + i',
  'tool.fs.Hash': '"large"',
  'tool.fs.LineCount': '"large"',
  'tool.fs.SanitizeFilename': 'p',
  'tool.memory.Get': '"key"',
  'tool.memory.CAS': '"key" + i, 0, "v" * 60000',
  'tool.policy.Allow': '[{"path": p}]',
  'tool.ns.def_global_const': '"c" + i, p',
  'tool.script.LoadScript': '"func f" + i + "() means\\n" + "emit 1\\n" * 8000 + "endfunc\\n"',
  'tool.script.ListFunctions': '',
  'tool.scratch.Get': '"key"',
  'tool.scratch.PutCAS': '"key" + i, 0, "v" * 60000, 60',
  'tool.account.Register': '"a" + i, {"kind": p}',
  'tool.account.Delete': 'p',
  'tool.account.List': '',
  'tool.account.Get': 'p',
  'tool.agentmodel.Register': '"m" + i, {"provider": p}',
  'tool.agentmodel.Update': '"m" + i, {"provider": p}',
  'tool.agentmodel.Delete': 'p',
  'tool.agentmodel.List': '',
  'tool.agentmodel.Get': 'p',
  'tool.system.Caps': '',
  'tool.time.Now': '',
  'tool.time.Sleep': '0.01',
  'tool.time.Parse': 'p',
  'tool.time.Unix': 'tool.time.Now()',
  'tool.time.FromUnix': '1',
  'tool.time.Add': 'tool.time.Now(), 1',
  'tool.tools.List': 'p',
  'tool.tools.Help': 'p',
  'tool.meta.Find': 'p',
  'tool.meta.ListTools': '',
  'tool.meta.GetTool': 'p',
  'tool.meta.ToolsHelp': 'p',
};

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools, policy, concurrency: 1 });
});
afterAll(() => runtime.close());

const program = (name: string, args: string): string => `command
  set p = "${PART}"
  for each i, x in "${'x'.repeat(BRANCHES)}" together
    set r = ${name}(${args})
  endfor
endcommand
`;

describe('issue 44: 64 calls together of each standard tool, at its dearest', () => {
  it('are all that there are', () => {
    expect(Object.keys(DEAREST).sort()).toEqual(tools.map(({ name }) => name).sort());
  });

  it.each(Object.entries(DEAREST))('%s lets the event loop go on', async (name, args) => {
    const source = program(name, args);
    const limits = { memoryBytes: 512 * MB, fuel: 1e12, wallMs: WALL_MS };
    await runtime.run(source, { limits });
    let least = Number.POSITIVE_INFINITY;
    let doing = '';
    // What else the machine does takes caches and memory away, which only adds to the time of a try.
    for (let tries = 0; tries < TRIES && least > MULTIPLE; tries++) {
      using watch = new PieceWatch();
      const { journal } = await runtime.run(source, { limits });
      const unit = calibration();
      const piece = watch.part();
      expect(journal.length).toBeGreaterThan(0);
      if ((piece?.workMs ?? 0) / unit >= least) continue;
      least = (piece?.workMs ?? 0) / unit;
      doing = piece?.doing.join('; ') ?? '';
    }
    expect(least, doing).toBeLessThanOrEqual(MULTIPLE);
  });
});
