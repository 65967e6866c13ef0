import type { KeyInfo, Lint, ProgressState } from '../../aeiou/index.ts';
import type { PolicyOptions } from '../../tools/index.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { RunInput, Source, TaggedJson } from '../../wire/protocol.ts';
import type { Unreadable } from '../turn/input.ts';

/** What a host was made of when it ran a turn: to be compared, and for whoever wonders later. */
export interface HostFacts {
  /** Of this package. */
  readonly version: string;
  /** Of Node. */
  readonly node: string;
  /** Of the frames between host and worker. */
  readonly protocol: number;
  /** All of these had to admit a call; null stands for no policy at all, which denies. */
  readonly policies: readonly (PolicyOptions | null)[];
  /** Digest of the definitions of all tools that the turn could see. */
  readonly catalogue: string;
}

/** The public part of a key that could verify tokens when a turn was decided. */
export interface PublicKeyRecord {
  readonly kid: string;
  readonly alg: KeyInfo['alg'];
  /** 32 bytes in base64url; null for HS256, whose key is a secret. */
  readonly publicKey: string | null;
}

/** What a turn was decided with, besides what its program said (A3-2-7, AMB-14). */
export interface Judged {
  /** What the progress guard knew before. */
  readonly progress: ProgressState;
  readonly noProgressN: number;
  /** Seconds that a token may seem to come from the future. */
  readonly clockSkew: number;
  /** Whether a guard of the application halted the turn. */
  readonly stopped: boolean;
  /** Whether neither signer could sign, at some time of the turn. */
  readonly mintFailed: boolean;
  /** What the replay cache said to each token that it was asked for: true for one that was not used before. */
  readonly fresh: readonly boolean[];
  readonly keys: readonly PublicKeyRecord[];
}

/** What the worker was given, without what stands elsewhere in the record: its limits, ACTIONS, USERDATA. */
export type RecordedRun = Omit<RunInput, 'limits'>;

/** The name under which programs find USERDATA. */
const USERDATA = 'userdata';

/** Takes out of an input what the record has elsewhere. */
export function recordedRun({ limits: _, sources, globals, ...rest }: RunInput): RecordedRun {
  return { ...rest, sources: sources.slice(0, -1), globals: { ...globals, [USERDATA]: null } };
}

/** The input that was recorded. */
export function inputOf(run: RecordedRun, limits: LimitValues, actions: Source, userdata: TaggedJson): RunInput {
  return { ...run, limits, sources: [...run.sources, actions], globals: { ...run.globals, [USERDATA]: userdata } };
}

/** The inputs of a turn that version 2 of the record brought: without them it can be shown, but not executed again. */
export interface Scene {
  /** Remarks on the reply of which the envelope was made. */
  readonly lints: readonly Lint[];
  /** Why the envelope could not be read; null when it could. */
  readonly unreadable: Unreadable | null;
  /** The first tool of ACTIONS that the policy denied, or ACTIONS where no human approved it, with why; null when all may run. */
  readonly denied: { readonly tool: string; readonly message: string } | null;
  /** Null when no program ran. */
  readonly run: RecordedRun | null;
  /** Null for a host that does not say. */
  readonly host: HostFacts | null;
  readonly judged: Judged;
}
