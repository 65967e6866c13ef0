import type { AuditRecord } from '../../tools/index.ts';
import { agentBrief } from '../agents/index.ts';
import { type Clock, systemClock } from '../clock.ts';
import { checkSid, randomIds } from '../ids.ts';
import { SessionExistsError } from '../sessions/errors.ts';
import { type Ceilings, resolveCeilings } from './ceilings.ts';
import { EventGate } from './dedupe.ts';
import { DEFAULT_OUTPUT_BYTES } from './diagnostics.ts';
import { type AskLoopOptions, type AskLoopRun, checkLoopOptions, checkRun } from './options.ts';
import { v1SystemPrompt } from './prompt.ts';
import type { V1LoopResult } from './record.ts';
import { V1Session } from './session.ts';

/**
 * The Ask-Loop of the v1 profile. It consults an agent for an AEIOU v1 turn, executes the turn, reads control from what ACTIONS
 * emitted, and goes on only while the program requests it and the host's ceilings allow it. Tokens of v3 have no meaning here,
 * as JSON control and markers have none in v3. A loop is not stored.
 */
export class AskLoop {
  readonly #options: AskLoopOptions;
  readonly #clock: Clock;
  readonly #ceilings: Ceilings;
  readonly #outputBytes: number;
  readonly #system: string;
  readonly #gate = new EventGate();
  readonly #running = new Set<string>();

  /** Throws `ConfigError` (`ERR_CONFIG`) for a ceiling or a size that cannot be enforced. */
  constructor(options: AskLoopOptions) {
    checkLoopOptions('the options of an AskLoop', options);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#ceilings = resolveCeilings(options.ceilings ?? {}, options.executor.limits.fuel);
    this.#system = options.system ?? agentBrief({ rules: v1SystemPrompt(), procedures: true, tools: options.executor.tools });
    this.#outputBytes = options.outputBytes ?? DEFAULT_OUTPUT_BYTES;
  }

  /**
   * Runs a loop to its end. A failure of the agent or of a program is a result. Rejects only for misuse and state:
   * `ConfigError`, {@link SessionExistsError} for a loop id that is running, `RuntimeClosedError`, `BusyError`, and with
   * errors of `onEvent`.
   */
  async run(run: AskLoopRun): Promise<V1LoopResult> {
    const checked = checkRun(run);
    const loopId = run.loopId ?? (this.#options.ids ?? randomIds).session();
    checkSid(loopId);
    if (this.#running.has(loopId)) throw new SessionExistsError(loopId);
    this.#running.add(loopId);
    try {
      return await new V1Session(
        {
          ...this.#options,
          clock: this.#clock,
          ceilings: this.#ceilings,
          outputBytes: this.#outputBytes,
          system: this.#system,
          gate: this.#gate,
        },
        { ...checked, loopId },
      ).run();
    } finally {
      this.#running.delete(loopId);
      this.#gate.dispose(loopId);
      await this.#options.executor.end?.(loopId);
    }
  }
}

/** A tool call in the audit trail of a loop. A call outside of any turn has null ids. */
export interface LoopAuditRecord extends AuditRecord {
  /** Id of the loop. */
  readonly loop_id: string | null;
  /** The turn within the loop, from 1. */
  readonly turn_id: number | null;
}

/**
 * Creates the `audit` option of `createRuntime` from a sink that expects loop and turn on every record. The ids come from the
 * turn context, which no program and no argument can change.
 */
export function loopAudit(sink: (record: LoopAuditRecord) => void): (record: AuditRecord) => void {
  return (record) => sink({ loop_id: record.sessionId, turn_id: record.turnIndex, ...record });
}
