import type { JournalEntry } from '../../wire/journal.ts';
import type { OutFrame } from '../../wire/protocol.ts';
import type { V1TurnRecord } from './record.ts';
import type { V1Stop } from './result.ts';
import type { SectionName } from './turn.ts';

/** Progress of a v1 loop. `decided` is the last event of a turn. */
export type V1LoopEvent = { readonly loopId: string; readonly turn: number } & V1LoopEventBody;

/** An event without the loop and turn that it belongs to. */
export type V1LoopEventBody =
  | { readonly type: 'asked'; readonly prompt: string }
  | { readonly type: 'replied'; readonly reply: string }
  | { readonly type: 'section'; readonly section: SectionName }
  | { readonly type: 'output'; readonly out: OutFrame }
  | { readonly type: 'called'; readonly entry: JournalEntry }
  | { readonly type: 'decided'; readonly decision: V1Stop['decision'] | 'CONTINUE'; readonly record: V1TurnRecord };
