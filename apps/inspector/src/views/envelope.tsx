import type { TurnView } from '../../../../src/ui/views.ts';
import { Section } from '../parts/marks.tsx';
import { Foreign, LongText } from '../parts/text.tsx';

/** The sections of the envelope that was executed; of one that cannot be read, the whole text. */
export function EnvelopePart({ turn }: { readonly turn: TurnView }) {
  const { sections, text, problem } = turn.envelope;
  if (sections === null) {
    return (
      <Section id="envelope" title="Envelope">
        {problem !== null && (
          <p class="problem">
            <Foreign text={problem} />
          </p>
        )}
        {text !== null && <LongText view={text} label="Envelope" of={turn} />}
      </Section>
    );
  }
  const { userdata, scratchpad, output, actions } = sections;
  const parts = [
    ['USERDATA', userdata, 'the host wrote it'],
    ['SCRATCHPAD', scratchpad, 'carried over from the turn before'],
    ['OUTPUT', output, 'carried over from the turn before'],
    ['ACTIONS', actions, 'the agent wrote it'],
  ] as const;
  return (
    <>
      {parts.map(([name, view, whose]) => (
        <Section key={name} id={`envelope-${name.toLowerCase()}`} title={name}>
          {view !== null && <p class="faint">{whose}</p>}
          {view === null ? <p class="none">not in this envelope</p> : <LongText view={view} label={name} of={turn} />}
        </Section>
      ))}
    </>
  );
}
