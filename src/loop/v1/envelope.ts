import { EnvelopeError, extractEnvelope, MAX_ENVELOPE_BYTES } from '../../aeiou/index.ts';
import type { InvalidReason } from './diagnostics.ts';

/** The programs of an agent's reply. OUTPUT and USERDATA of a reply have no effect. */
export interface V1Programs {
  /** Pure functions; '' when the section is absent. */
  readonly implementations: string;
  /** Event handlers; '' when the section is absent. */
  readonly events: string;
  readonly actions: string;
}

/** A reply as read. */
export type V1Reply =
  | { readonly ok: true; readonly programs: V1Programs }
  | { readonly ok: false; readonly reason: InvalidReason };

type Section = 'USERDATA' | 'IMPLEMENTATIONS' | 'EVENTS' | 'ACTIONS' | 'OUTPUT';

const MARKER = /^<<<NSENVELOPE_MAGIC::(USERDATA|IMPLEMENTATIONS|EVENTS|ACTIONS|OUTPUT)::v1>>>\s*$/;
const V3_START = /^<<<NSENV:V3:START>>>\s*$/m;

/** The line that starts a section of an AEIOU v1 envelope. */
export function sectionLine(section: Section): string {
  return `<<<NSENVELOPE_MAGIC::${section}::v1>>>`;
}

/** Whether a line of the text would be read as the start of a section. */
export function hasSectionLine(text: string): boolean {
  return text.split('\n').some((line) => MARKER.test(line));
}

/**
 * Reads an agent's reply. It is either an AEIOU v1 envelope, with sections in any order, optional code fences and any prose
 * before them, or a v3 envelope, of which only ACTIONS is used. The loop depends on what programs emit and not on their
 * envelope. Never throws.
 */
export function readV1Reply(reply: string): V1Reply {
  if (Buffer.byteLength(reply) > MAX_ENVELOPE_BYTES) return { ok: false, reason: 'too_large' };
  if (V3_START.test(reply)) return readV3(reply);
  const sections = new Map<Section, string[]>();
  let open: string[] | null = null;
  for (const line of reply.split('\n')) {
    const name = MARKER.exec(line)?.[1];
    if (name === undefined) {
      open?.push(line);
      continue;
    }
    const section = name as Section;
    if (sections.has(section)) return { ok: false, reason: 'duplicate_section' };
    open = [];
    sections.set(section, open);
  }
  const body = (section: Section): string => unfenced(sections.get(section) ?? []);
  const actions = body('ACTIONS');
  if (actions === '') return { ok: false, reason: 'missing_command' };
  return { ok: true, programs: { implementations: body('IMPLEMENTATIONS'), events: body('EVENTS'), actions } };
}

function readV3(reply: string): V1Reply {
  try {
    const { actions } = extractEnvelope(reply);
    if (actions.trim() === '') return { ok: false, reason: 'missing_command' };
    return { ok: true, programs: { implementations: '', events: '', actions } };
  } catch (error) {
    if (error instanceof EnvelopeError)
      return { ok: false, reason: error.code === 'ERR_ENV_SIZE' ? 'too_large' : 'missing_command' };
    throw error;
  }
}

const FENCE = '```';

/** A section's text: the content of its code fence, or the whole text if it does not start with a fence. */
function unfenced(lines: readonly string[]): string {
  const first = lines.findIndex((line) => line.trim() !== '');
  if (first < 0) return '';
  if (lines[first]?.startsWith(FENCE) !== true) return lines.join('\n').trim();
  const end = lines.findIndex((line, index) => index > first && line.trimEnd() === FENCE);
  return lines.slice(first + 1, end < 0 ? lines.length : end).join('\n');
}

/**
 * The envelope for an agent: the loop's OUTPUT so far, which is the host's prompt in turn 1, and the host's USERDATA. The
 * caller ensures that no line of `output` starts a section.
 */
export function composeV1Prompt(userdata: string, output: string): string {
  return [sectionLine('OUTPUT'), output, sectionLine('USERDATA'), userdata, ''].join('\n');
}
