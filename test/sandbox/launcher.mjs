// Opens a runtime twice with the given choice of a launcher and tells how its workers were started, or why not.

import { Sandbox } from '../../src/sandbox/index.ts';
import { defaultLimits } from '../../src/wire/limits.ts';

const launcher = process.argv[2];
const input = {
  sources: [{ name: 'src', text: 'command\n  emit 1\nendcommand\n' }],
  globals: {},
  call: null,
  events: [],
  limits: defaultLimits('run'),
  forkId: 'f',
  turn: false,
  stdin: false,
};
try {
  const first = await Sandbox.create({ concurrency: 1, launcher });
  await first.close();
  const sandbox = await Sandbox.create({ concurrency: 1, launcher });
  const { result } = await sandbox.run(input, { onOut() {}, onCall: async () => ({ t: 'ok', value: null }) });
  process.stdout.write(JSON.stringify({ reason: sandbox.launcher.reason, ok: result.ok }));
  await sandbox.close();
} catch ({ code, message }) {
  process.stdout.write(JSON.stringify({ code, message }));
}
