import { expect, it } from 'vitest';
import { productFiles } from './imports.ts';
import { ESCAPED, isNode, walk } from './source.ts';

/** The JSON was written by this product, or by the engine: the parser of the engine reads again what it wrote. */
const OWN = 'reads what this process, its worker or its package wrote';
/** A command reads it before or instead of serving, so nobody waits for the host meanwhile. */
const ALONE = 'a command reads it for itself, bounded by the size of a file or of a command line';
/** A row, bounded when it was written. The store may be changed by others; whoever writes to it has the rights of the host. */
const STORED = 'a row of a store, which was bounded when it was written';
const COUNTED = 'bytes and values are counted before';

/**
 * Every file that parses JSON in one piece, and why that piece is bounded: no piece of work on what others wrote may take the host long.
 * Larger texts of a program go through `parseInPieces`.
 */
const PARSES: Readonly<Record<string, string>> = {
  'src/ai/sdktools.ts': 'copies the schema of a tool that the host itself defines',
  'src/cli/commands/promote.ts': ALONE,
  'src/cli/conformance/driver.ts': `${ALONE}; ${COUNTED}`,
  'src/cli/conformance/language.ts': ALONE,
  'src/cli/conformance/command.ts': ALONE,
  'src/cli/conformance/vectors.ts': OWN,
  'src/cli/flags/options.ts': ALONE,
  'src/cli/inspect/kind.ts': `${ALONE}; ${COUNTED}`,
  'src/cli/manual/read.ts': OWN,
  'src/engine/realm.ts': 'reads what the interpreter in this realm writes',
  'src/files/json.ts': 'its callers are in this list',
  'src/gate/executor/attempts.ts': 'a line of a queue has at most 64 KiB',
  'src/gate/executor/lock.ts': 'a lock file, of which 4 KiB are read',
  'src/gate/record.ts': 'a line of a queue has at most 64 KiB',
  'src/guest/pure/json.ts': 'runs in the isolate, which pays for it',
  'src/loop/ask/handler.ts': 'a prompt of an ask, no longer than an envelope',
  'src/loop/log/chain.ts': 'a line of a log, whose length its reader bounds',
  'src/loop/replay/export.ts': `${ALONE}; ${COUNTED}`,
  'src/loop/sessions/rows.ts': STORED,
  'src/loop/sessions/sqliteengine.ts': 'an entry that the store itself has just written',
  'src/mcp/auth/fetch.ts': 'an answer of an authorization server, whose bytes are bounded',
  'src/mcp/auth/state.ts': 'a file of the host, of mode 0600',
  'src/mcp/server/http.ts': `${COUNTED}, with the keys of one map`,
  'src/mcp/server/outputs.ts': 'the schema of a tool that the host itself defines',
  'src/mcp/server/programs.ts': STORED,
  'src/mcp/tasks.ts': OWN,
  'src/postgres/log.ts': STORED,
  'src/receipt/checkpoint.ts': `${ALONE}; ${COUNTED}`,
  'src/receipt/key.ts': ALONE,
  'src/receipt/receipt.ts': `${ALONE}; ${COUNTED}`,
  'src/receipt/verify.ts': `${ALONE}; ${COUNTED}`,
  'src/testing/run.ts': 'serves a test',
  'src/testing/simulation/watch.ts': 'serves a test',
  'src/tools/define/jsonschema.ts': 'copies the schema of a tool that the host itself defines, or that is bounded before',
  'src/tools/define/keywords.ts': 'copies a part of a schema, as jsonschema.ts does',
  'src/tools/dispatch/packed.ts': OWN,
  'src/ui/log.ts': 'a line of a log, whose length its reader bounds',
  'src/ui/server.ts': COUNTED,
  'src/wire/frames.ts': 'values are counted before, and a frame of over 64 KiB goes through `parseInPieces`',
  'src/wire/jsonpieces.ts': 'parses a piece',
  'src/wire/pure/declaration.ts': OWN,
  'src/rpc/messages.ts': `a message of the application, of at most 16 MiB; ${COUNTED}`,
  'src/runtime/line.ts': 'a line of a request to `run --serve`, whose length its reader bounds',
  'src/worker/boot.ts': 'runs in the worker',
  'src/worker/bridge.ts': 'runs in the worker',
  'src/worker/run.ts': 'runs in the worker',
  'src/worker/server.ts': 'runs in the worker',
  'stdlib-tools/jwt.ts': 'a part of a token, of at most 64 KiB',
  'stdlib-tools/storage/sqlstorage.ts': STORED,
  'stdlib-tools/storage/statistics.ts': STORED,
};

it('18: who parses JSON in one piece is known, with the bound of that piece', () => {
  const product = productFiles().filter(({ path }) => !path.startsWith('bench/'));
  const found = new Set(product.filter(({ text }) => text.includes('parsedJson')).map(({ path }) => path));
  const files = product.filter(({ text }) => (text.includes('JSON') && text.includes('parse')) || ESCAPED.test(text));
  for (const { path, program } of files)
    walk(program, (node) => {
      const { object, property } = node;
      if (node.type !== 'MemberExpression' || !isNode(object) || !isNode(property)) return;
      if (object['name'] === 'JSON' && property['name'] === 'parse') found.add(path);
    });
  expect([...found].sort()).toEqual(Object.keys(PARSES).sort());
});
