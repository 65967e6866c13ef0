import { isMonstrous } from '../../files/json.ts';
import { clip, counted, quantity } from '../../report/index.ts';
import {
  loadMockTools,
  loadPolicy,
  POLICY_KEYS,
  type Policy,
  policyOptions,
  RECORDING_MARK,
  toolCatalogue,
  YamlFile,
} from '../../tools/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import { isRecord } from '../../wire/unknown.ts';
import { type Artefact, type Flaw, type Found, type Kind, listed, unreadable } from './kind.ts';

/** Maximum bytes of a configuration file. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Maximum number of tools, patterns or grants in the text; `--json` has all. */
const MOST = 50;

/** A key at the beginning of a line, in YAML or JSON. Each blank matches in one way only, so the search is linear. */
const topKey = (names: string): RegExp => new RegExp(`^[ \\t]*(?:\\{[ \\t]*)?["']?(?:${names})["']?[ \\t]*:`, 'm');
const OF_POLICY = topKey(POLICY_KEYS.join('|'));
const OF_TOOLS = topKey('tools');

/** Policy files (`schemas/policy.schema.json`). */
export const POLICY: Kind = {
  kind: 'policy',
  what: 'a policy file',
  recognize(artefact: Artefact): Found | string {
    const top = topOf(artefact, OF_POLICY, "its top has neither 'allow' nor 'deny' nor 'grants'");
    if (typeof top === 'string') return top;
    if (!POLICY_KEYS.some((key) => key !== 'context' && key in top) || 'tools' in top)
      return "its top has neither 'allow' nor 'deny' nor 'grants'";
    const title = 'a policy file: what programs may call';
    const policy = attempt(() => loadPolicy(artefact.text ?? '', artefact.name));
    if ('message' in policy) return unreadable(title, policy, { policy: null }, POLICY_NEXT);
    const options = policyOptions(policy);
    return { title, sure: 'certain', error: null, facts: { policy: options }, lines: policyLines(policy), next: POLICY_NEXT };
  },
};

const POLICY_NEXT =
  '"neuroscript tools --policy FILE" shows what it leaves; "neuroscript check --policy FILE PROGRAM" what it refuses.';

/** Tools files: mocks in YAML or JSON. */
export const TOOLS: Kind = {
  kind: 'tools',
  what: 'a tools file',
  recognize(artefact: Artefact): Found | string {
    const top = topOf(artefact, OF_TOOLS, "its top has no 'tools'");
    if (typeof top === 'string') return top;
    if (!isRecord(top['tools'])) return "its top has no map 'tools'";
    const text = artefact.text ?? '';
    const recorded = text.startsWith(RECORDING_MARK);
    const title = recorded ? 'a tools file, recorded from real calls' : 'a tools file with mocks';
    const tools = attempt(() => loadMockTools(text, artefact.name));
    if ('message' in tools) return unreadable(title, tools, { recorded, state: [], tools: [] }, TOOLS_NEXT);
    const catalogue = toolCatalogue(tools);
    const state = isRecord(top['state']) ? Object.keys(top['state']) : [];
    return {
      title,
      sure: 'certain',
      error: null,
      facts: { recorded, state, tools: catalogue },
      lines: [
        `${counted(catalogue.length, 'tool')}${state.length === 0 ? '' : `; state: ${clip(state.join(', '), 200)}`}`,
        ...listed(catalogue, ({ call, effects }) => [clip(`${call}${effects === 'none' ? '' : `  (${effects})`}`, 200)], {
          most: MOST,
        }),
      ],
      next: TOOLS_NEXT,
    };
  },
};

const TOOLS_NEXT =
  '"neuroscript run PROGRAM --tools FILE" lets programs call them; "neuroscript tools --tools FILE" says more of each.';

/** The keys of a file that is a map, or why it is not a map. */
function topOf({ name, text, bytes }: Artefact, keys: RegExp, lacking: string): Readonly<Record<string, unknown>> | string {
  if (text === null) return 'it is no text';
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

function policyLines({ context, allow, deny, grants, toolMaxCalls, onPolicyBreach }: Policy): readonly string[] {
  const list = (what: string, items: readonly string[]): readonly string[] => [
    items.length === 0
      ? `${what} nothing`
      : clip(`${what} ${items.slice(0, MOST).join(', ')}${items.length > MOST ? ', …' : ''}`, 500),
  ];
  return [
    ...list('allows', allow),
    ...list('denies', deny),
    `${counted(grants.length, 'grant')}; context ${context}; a breach ${onPolicyBreach === 'halt' ? 'ends the run' : 'is an error that a program can catch'}`,
    ...[...toolMaxCalls].slice(0, MOST).map(([tool, most]) => `${tool} at most ${counted(most, 'time')}`),
  ];
}
