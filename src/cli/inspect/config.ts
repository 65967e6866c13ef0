import { isMonstrous } from '../../files/json.ts';
import { counted, explainGrant, plainPalette, quantity } from '../../report/index.ts';
import {
  loadGrant,
  loadMockTools,
  loadPolicy,
  POLICY_KEYS,
  policyOptions,
  RECORDING_MARK,
  toolCatalogue,
  YamlFile,
} from '../../tools/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import { isRecord } from '../../wire/unknown.ts';
import { policyLines } from '../commands/policy.ts';
import { toolLines } from '../commands/tools.ts';
import { type Artefact, type Flaw, type Found, type Kind, listed, unreadable, whole } from './kind.ts';

/** Maximum bytes of a configuration file. */
const MOST_BYTES = 4 * 1024 * 1024;
/** A key at the beginning of a line, in YAML or JSON. Each blank matches in one way only, so the search is linear. */
const topKey = (names: string): RegExp => new RegExp(`^[ \\t]*(?:\\{[ \\t]*)?["']?(?:${names})["']?[ \\t]*:`, 'm');
const OF_POLICY = topKey(POLICY_KEYS.join('|'));
const OF_TOOLS = topKey('tools');
const OF_GRANT = topKey('programs');

/** Grants (`docs/schemas/grant.schema.json`). */
export const GRANT: Kind = {
  kind: 'grant',
  what: 'a grant',
  recognize(artefact: Artefact): Found | string {
    const lacking = "no top-level keys 'programs' and 'calls'";
    const top = topOf(artefact, OF_GRANT, lacking);
    if (typeof top === 'string') return top;
    if (!('programs' in top && 'calls' in top)) return lacking;
    const title = 'a grant: the calls that programs may make';
    const report = attempt(() => loadGrant(artefact.text ?? '', artefact.name));
    if ('message' in report) return unreadable(title, report, GRANT_NEXT);
    return whole({ title, report, lines: explainGrant(report, plainPalette), next: GRANT_NEXT });
  },
};

const GRANT_NEXT =
  '"neuroscript run PROGRAM --bound FILE" refuses every other call; "neuroscript foresee PROGRAM --grant FILE" shows what is new.';

/** Policy files (`docs/schemas/policy.schema.json`). */
export const POLICY: Kind = {
  kind: 'policy',
  what: 'a policy file',
  recognize(artefact: Artefact): Found | string {
    const lacking = "no top-level key 'allow', 'deny' or 'grants'";
    const top = topOf(artefact, OF_POLICY, lacking);
    if (typeof top === 'string') return top;
    if (!POLICY_KEYS.some((key) => key !== 'context' && key in top) || 'tools' in top) return lacking;
    const title = 'a policy file: what programs may call';
    const policy = attempt(() => loadPolicy(artefact.text ?? '', artefact.name));
    if ('message' in policy) return unreadable(title, policy, POLICY_NEXT);
    const report = policyOptions(policy);
    return whole({ title, report, lines: policyLines(report ?? {}), next: POLICY_NEXT });
  },
};

const POLICY_NEXT =
  '"neuroscript tools --policy FILE" shows what it leaves; "neuroscript check --policy FILE PROGRAM" what it refuses.';

/** Tools files: mocks in YAML or JSON. */
export const TOOLS: Kind = {
  kind: 'tools',
  what: 'a tools file',
  recognize(artefact: Artefact): Found | string {
    const top = topOf(artefact, OF_TOOLS, "no top-level key 'tools'");
    if (typeof top === 'string') return top;
    if (!isRecord(top['tools'])) return "its 'tools' is not a map";
    const text = artefact.text ?? '';
    const form = text.startsWith(RECORDING_MARK) ? 'recording' : 'mocks';
    const title = form === 'recording' ? 'a tools file, recorded from real calls' : 'a tools file with mocks';
    const tools = attempt(() => loadMockTools(text, artefact.name));
    if ('message' in tools) return unreadable(title, tools, TOOLS_NEXT);
    const report = toolCatalogue(tools);
    const lines = [
      counted(report.length, 'tool'),
      ...listed(report, (entry) => toolLines(entry, true, plainPalette), { most: MOST }),
    ];
    return whole({ form, title, report, lines, next: TOOLS_NEXT });
  },
};

/** Maximum number of tools in the text; `--json` has all. */
const MOST = 50;

const TOOLS_NEXT =
  '"neuroscript run PROGRAM --tools FILE" lets programs call them; "neuroscript tools --tools FILE" says more of each.';

/** The keys of a file that is a map, or why it is not a map. */
function topOf({ name, text, bytes }: Artefact, keys: RegExp, lacking: string): Readonly<Record<string, unknown>> | string {
  if (text === null) return 'it is not text';
  if (bytes.length > MOST_BYTES) return `it is larger than ${quantity('bytes', MOST_BYTES)}, as no configuration is`;
  if (!keys.test(text)) return lacking;
  if (isMonstrous(text)) return 'it nests too deep, or has too many lists and maps';
  const file = attempt(() => new YamlFile(text, name));
  if ('message' in file) return `it cannot be read as YAML: ${file.message}`;
  return isRecord(file.value) ? file.value : lacking;
}

/** The error of the project's own reader, without the file name that it puts in front. */
function attempt<Result extends object>(read: () => Result): Result | Flaw {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return { code: ConfigError.code, message: 'it nests too deep', line: null };
    if (!(error instanceof ConfigError)) throw error;
    const line = /:(\d+)(?::\d+)?: /.exec(error.message)?.[1];
    return { code: error.code, message: error.message, line: line === undefined ? null : Number(line) };
  }
}
