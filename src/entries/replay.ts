/**
 * Recorded sessions: executing them again, trying changes, exporting and redacting. Entry point `neuroscript-runtime/replay`.
 */

export {
  type Changes,
  chainFaults,
  type Divergence,
  EXPORT_FORMAT,
  ExportError,
  type ExportedSession,
  exportFile,
  exportRecords,
  exportSession,
  malformation,
  REDACTED,
  type ReadSession,
  type RecordedSession,
  Redaction,
  type RedactionRules,
  type ReplayOptions,
  readExport,
  readSession,
  replaySession,
  replayTurn,
  type SessionReplay,
  type SessionReplayOptions,
  type SessionsFile,
  type TriedSession,
  type TriedTurn,
  type TurnReplay,
  tryOut,
} from '../loop/index.ts';
