import type { Bound, Plant } from '../../states/explorer.ts';

const DECISION = 'src/aeiou/decision.ts';
const VERIFY = 'src/aeiou/token/verify.ts';
const VERDICT = 'src/loop/turn/verdict.ts';
const CONTROLLER = 'src/loop/controller.ts';
const AFTER = 'src/loop/after.ts';
const SPENT = 'src/loop/spent.ts';

/** The bound of `npm test`, and of the search for bugs. */
export const SMALL: Bound = { moves: 1, steps: 1 };

/** Bugs to plant in the code of loop and tokens, one at a time. */
export const PLANTS: readonly Plant[] = [
  {
    what: 'done beats abort',
    file: DECISION,
    from: 'done: 1, abort: 2',
    to: 'done: 2, abort: 1',
    breaks: 'AL3-5.3-1',
  },
  {
    what: 'the first of equals wins',
    file: DECISION,
    from: 'rank(token) >= rank(chosen)',
    to: 'rank(token) > rank(chosen)',
    breaks: 'AL3-5.3-2',
  },
  {
    what: 'the first candidate gives the reason',
    file: DECISION,
    from: "candidates.at(-1)?.code ?? 'ERR",
    to: "candidates.at(0)?.code ?? 'ERR",
    breaks: 'AL3-5.3-4',
  },
  {
    what: 'of two valid tokens there is no lint',
    file: DECISION,
    from: 'valid[1]',
    to: 'valid[2]',
    breaks: 'A3-5.3-4',
  },
  {
    what: 'a padded token is a candidate',
    file: DECISION,
    from: 'isTokenLine(text)',
    to: 'isTokenLine(text.trim())',
    breaks: 'A3-10-4',
  },
  {
    what: 'a token is good twice',
    file: VERIFY,
    from: 'options.replay !== undefined && !options',
    to: 'options.replay === undefined && !options',
    breaks: 'A3-10-2',
  },
  {
    what: 'a token is good in another run of its turn',
    file: VERIFY,
    from: "  if (payload.turn_nonce !== options.turnNonce) return other('nonce', 'run of this turn');\n",
    to: '',
    breaks: 'AL3-5.3-1',
  },
  {
    what: 'a token is good in another turn',
    file: VERIFY,
    from: "  if (payload.turn_index !== options.turnIndex) return other('turn', 'turn');\n",
    to: '',
    breaks: 'AL3-5.3-1',
  },
  {
    what: 'a token lives a second too long',
    file: VERIFY,
    from: 'now > payload.issued_at + payload.ttl)',
    to: 'now > payload.issued_at + payload.ttl + 1)',
    breaks: 'AL3-5.3-1',
  },
  {
    what: 'a token of the future is good',
    file: VERIFY,
    from: 'payload.issued_at > now + options.clockSkew',
    to: 'payload.issued_at > now + 2 * options.clockSkew',
    breaks: 'AL3-5.3-1',
  },
  {
    what: 'any bytes of a payload are good',
    file: VERIFY,
    from: 'canonicalize(token.payload) !== token.text',
    to: "canonicalize(token.payload) === ''",
    breaks: 'AL3-5.3-1',
  },
  {
    what: 'the guard does not see whispers',
    file: 'src/aeiou/progress.ts',
    from: 'normalizeStream(scratchpad)',
    to: "normalizeStream('')",
    breaks: 'AL3-6-2',
  },
  {
    what: 'tokens look like progress',
    file: 'src/aeiou/progress.ts',
    from: '    .filter((line) => !isTokenLine(line))\n',
    to: '',
    breaks: 'AL3-6-2',
  },
  {
    what: 'the guard lets a session end by itself',
    file: VERDICT,
    from: 'const stopped = halt ||',
    to: "const stopped = (halt && selection.decision !== 'DONE') ||",
    breaks: 'AL3-5.3-1',
  },
  {
    what: 'a line that would be a marker goes into the next envelope',
    file: VERDICT,
    from: "selection.decision === 'CONTINUE' ? carryProblem(",
    to: "selection.decision === 'DONE' ? carryProblem(",
    breaks: 'AL3-5.3-1',
  },
  {
    what: 'a program can hide that no token could be signed',
    file: 'src/loop/turn/attempt.ts',
    from: 'const isMintFailure = this.#ledger.failed && (execution.halt === null || ',
    to: 'const isMintFailure = this.#ledger.failed && (',
    breaks: 'AL3-5.3-1',
  },
  {
    what: 'the fallback signs what was asked for',
    file: 'src/aeiou/token/minter.ts',
    from: "{ action: 'abort', request: {",
    to: '{ ...input.payload, request: {',
    breaks: 'A3-11.4-2',
  },
  {
    what: 'a replaced key is forgotten at once',
    file: 'src/aeiou/keys/keyring.ts',
    from: 'if (old !== null) this.#retire(old);',
    to: 'if (old !== null) this.#entries.delete(old.info.kid);',
    breaks: 'A3-10-2',
  },
  {
    what: 'a replaced key is good for ever',
    file: 'src/aeiou/keys/keyring.ts',
    from: 'secondsOf(this.#clock) > verifyUntil',
    to: 'secondsOf(this.#clock) > verifyUntil + 300',
    breaks: 'AL3-5.3-1',
  },
  {
    what: 'an ended session has streams for a next turn',
    file: AFTER,
    from: "const goesOn = decision === 'CONTINUE';",
    to: "const goesOn = decision !== 'HALT';",
    breaks: 'A3-8-6',
  },
  {
    what: 'a loop takes a turn too many',
    file: CONTROLLER,
    from: 'decided >= maxTurns',
    to: 'decided > maxTurns',
    breaks: 'AL3-11-7',
  },
  {
    what: 'a loop goes on without tokens of its model',
    file: SPENT,
    from: 'tokens: tokens + (record.agent',
    to: 'tokens: (record.agent',
    breaks: 'AL3-11-7',
  },
  {
    what: 'a session that has ended is driven on',
    file: CONTROLLER,
    from: "if (state?.status !== 'open') throw new SessionStateError(sid, state?.status ?? 'unknown');",
    to: "if (state === null) throw new SessionStateError(sid, 'unknown');",
    breaks: 'AL3-2-1',
  },
  {
    what: 'a call is answered after its time',
    file: 'src/loop/suspend/complete.ts',
    from: 'if (clock.now() >= expiresAt)',
    to: 'if (clock.now() < 0)',
    breaks: 'AL3-2-1',
  },
  {
    what: 'every failure is counted as a wrong signature',
    file: 'src/loop/metrics.ts',
    from: "this.#add('verify_fail_total', code)",
    to: "this.#add('verify_fail_total', 'ERR_TOKEN_VERIFY')",
    breaks: 'A3-10-4',
  },
];
