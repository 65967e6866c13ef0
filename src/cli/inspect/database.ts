import { type StorageStatistics, storageStatistics } from '../../../stdlib-tools/index.ts';
import { StoreError, type StoreStatistics, storeStatistics } from '../../loop/index.ts';
import { amount, clip, counted, sessionLine, tallyText, timeText } from '../../report/index.ts';
import type { DatabaseFile } from './artefact.ts';
import { type Flaw, type Found, listed } from './kind.ts';

/** The contents of a SQLite file, as JSON and as lines. */
interface Contents {
  readonly facts: object;
  readonly lines: readonly string[];
}

/** The result of opening a SQLite file of this project. */
interface Look<Statistics> {
  readonly version: number;
  readonly newest: number;
  readonly unfolded: boolean;
  readonly contents: Statistics | StoreError;
}

/**
 * Identifies a SQLite file, or says why it is not one of this project. Opens it read-only and leaves it unchanged. Throws
 * {@link StoreError} (`busy`, `io`) when it cannot be read.
 */
export async function inspectDatabase({
  path,
}: DatabaseFile): Promise<{ readonly kind: string; readonly found: Found } | string> {
  try {
    const store = await storeStatistics(path);
    if (store !== null) return { kind: 'store', found: found('a store of sessions', store, storeContents, STORE_NEXT) };
    const storage = await storageStatistics(path);
    if (storage === null) return 'a SQLite file of another program';
    return { kind: 'storage', found: found('a storage of what tools keep', storage, storageContents, STORAGE_NEXT) };
  } catch (error) {
    if (error instanceof StoreError && (error.detail === 'damaged' || error.detail === 'foreign'))
      return `a SQLite file that cannot be read: ${error.message}`;
    throw error;
  }
}

const STORE_NEXT =
  '"neuroscript sessions list --store FILE" and "sessions show SID" tell more (they open it for use); "replay --all --store FILE" executes its turns again.';
const STORAGE_NEXT = 'Programs that "neuroscript run --storage FILE" runs read and change it.';

function found<Statistics>(
  title: string,
  look: Look<Statistics>,
  show: (statistics: Statistics) => Contents,
  next: string,
): Found {
  const { version, newest, unfolded } = look;
  const contents = look.contents instanceof StoreError ? null : show(look.contents);
  const age =
    version === newest
      ? `form ${version}, that of this version`
      : version < newest
        ? `form ${version}; this version knows ${newest}, and brings it there when it opens it for use`
        : `form ${version}, of a newer version; this one knows ${newest} and cannot use it`;
  return {
    title,
    sure: 'certain',
    error: flawOf(look),
    report: { form: version, newest, unfolded, contents: contents?.facts ?? null },
    lines: [
      age,
      ...(unfolded ? ['there are changes beside it (FILE-wal): send or copy both files'] : []),
      ...(contents?.lines ?? []),
    ],
    next,
  };
}

function flawOf({ version, newest, contents }: Look<unknown>): Flaw | null {
  if (contents instanceof StoreError) return { code: contents.code, message: contents.message, line: null };
  if (version <= newest) return null;
  return { code: StoreError.code, message: `a newer version wrote it (form ${version}; this one knows ${newest})`, line: null };
}

function storeContents({ createdAt, updatedAt, latest, ...counts }: StoreStatistics): Contents {
  const { sessions, statuses, turns, decisions, started } = counts;
  const [first, last] = [createdAt, updatedAt].map((ms) => (ms === null ? null : timeText(ms)));
  const shown = latest.map((session) => ({ ...session, updatedAt: timeText(session.updatedAt) }));
  return {
    facts: { ...counts, createdAt: first, updatedAt: last, latest: shown },
    lines: [
      `${counted(sessions, 'session')}${sessions === 0 ? '' : `: ${tallyText(statuses)}; from ${first} to ${last}`}`,
      `${counted(turns, 'turn')}${turns === 0 ? '' : `: ${tallyText(decisions)}`}; ${started} started and not decided`,
      ...listed(latest, (session) => [clip(sessionLine(session), 200)], { all: sessions }),
    ],
  };
}

function storageContents(statistics: StorageStatistics): Contents {
  const { entries, scopes, bytes, largest } = statistics;
  return {
    facts: statistics,
    lines: [
      `${counted(entries, 'value')} in ${counted(scopes, 'scope')}, ${amount('bytes', bytes)}`,
      ...listed(
        largest,
        (scope) => [clip(`${scope.scope}  ${counted(scope.entries, 'value')}, ${amount('bytes', scope.bytes)}`, 200)],
        { all: scopes },
      ),
    ],
  };
}
