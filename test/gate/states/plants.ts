import type { Plant } from '../../states/explorer.ts';

const APPEND = 'src/gate/executor/append.ts';
const EXECUTE = 'src/gate/executor/execute.ts';
const LOCK = 'src/gate/executor/lock.ts';

/** Bugs to plant in the gate's code, one at a time. */
export const PLANTS: readonly Plant[] = [
  {
    what: 'the letter case of a UUID makes it another intent',
    file: 'src/gate/formats.ts',
    from: 'one.toLowerCase() === other.toLowerCase()',
    to: 'one === other',
    breaks: 'ARGO-6-1',
  },
  {
    what: 'an attempt whose outcome is unknown is tried again',
    file: EXECUTE,
    from: '    refuseOpenAttempt(options.queue, request.intentId);\n',
    to: '',
    breaks: 'ARGO-R4',
  },
  {
    what: 'a lock is taken from its holder',
    file: LOCK,
    from: "openSync(this.#path, 'wx', 0o644)",
    to: 'openSync(this.#path, 66, 0o644)',
    breaks: 'ARGO-5-5',
  },
  {
    what: 'the gate is asked before the lock is taken',
    file: EXECUTE,
    from: '    lock = new QueueLock(options.queue, now());\n    refuseOpenAttempt(options.queue, request.intentId);\n    const verdict = checkEligibility(request, options);\n',
    to: '    refuseOpenAttempt(options.queue, request.intentId);\n    const verdict = checkEligibility(request, options);\n    lock = new QueueLock(options.queue, now());\n',
    breaks: 'ARGO-R4',
  },
  {
    what: 'a success that could not be recorded is reported as one',
    file: EXECUTE,
    from: "  if (result.state === 'executed') recordExecuted(prepared, request, now());\n",
    to: "  try { if (result.state === 'executed') recordExecuted(prepared, request, now()); } catch {}\n",
    breaks: 'ARGO-6-9',
  },
  {
    what: 'a success is reported before the disk has it',
    file: APPEND,
    from: '      fsyncSync(file);\n',
    to: '',
    breaks: 'ARGO-6-9',
  },
  {
    what: 'the name of a file may be lost in a power failure',
    file: APPEND,
    from: '    syncDirectory(queue);\n',
    to: '',
    breaks: 'ARGO-6-9',
  },
  {
    what: 'only the process that writes the first line waits for the name of the file',
    file: APPEND,
    from: '    } finally {\n      closeSync(file);\n    }\n    syncDirectory(queue);\n',
    to: '      if (size === 0) syncDirectory(queue);\n    } finally {\n      closeSync(file);\n    }\n',
    breaks: 'ARGO-6-9',
  },
  {
    what: 'a line is appended to one that is cut off',
    file: APPEND,
    from: "      if (size > 0 && lastByte(file, size) !== LF) throw new Error('its last line is incomplete');\n",
    to: '',
    breaks: 'ARGO-5-8',
  },
  {
    what: 'a failure counts as an execution',
    file: EXECUTE,
    from: "if (result.state === 'executed') recordExecuted",
    to: 'recordExecuted',
    breaks: 'ARGO-5-8',
  },
  {
    what: 'of two plans, any is approved',
    file: 'src/gate/approval.ts',
    from: "    if (hashes.size > 1) return no('Intent approved with different hashes');\n",
    to: '',
    breaks: 'ARGO-6-1',
  },
  {
    what: 'an intent is approved twice',
    file: 'src/gate/approve.ts',
    from: 'if (sameUuid(id, intentId)) throw',
    to: 'if (id === "") throw',
    breaks: 'ARGO-5-8',
  },
  {
    what: 'a verifier that breaks has approved',
    file: 'src/gate/verifier.ts',
    from: "if (status === 0) return 'approved';",
    to: "if (status !== 1) return 'approved';",
    breaks: 'ARGO-3-3c',
  },
  {
    what: 'an old execution is forgotten',
    file: 'src/gate/history.ts',
    from: '!== null && isTimestamp(timestamp) ? timestamp : null;',
    to: '!== null && isTimestamp(timestamp) ? timestamp : null; if (Date.parse(String(timestamp)) < 1.5e12) return;',
    breaks: 'ARGO-6-1',
  },
];
