import type { TurnView } from '../../../../src/ui/views.ts';
import { useAnswer, useWorld } from '../data/use.ts';
import { Section } from '../parts/marks.tsx';
import { Foreign, LongText } from '../parts/text.tsx';
import { Carries } from './output.tsx';

/** The sections of the envelope that was executed; of one that cannot be read, the whole text. */
export function EnvelopePart({ turn }: { readonly turn: TurnView }) {
  const { source } = useWorld();
  const { sid, before } = turn;
  const { value } = useAnswer(() => (before === null ? Promise.resolve(null) : source.turn(sid, before)), [sid, before]);
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
    ['USERDATA', userdata, 'the host wrote it', null],
    ['SCRATCHPAD', scratchpad, 'carried over from the turn before', value?.carries.scratchpad ?? null],
    ['OUTPUT', output, 'carried over from the turn before', value?.carries.output ?? null],
    ['ACTIONS', actions, 'the agent wrote it', null],
  ] as const;
  return (
    <>
      {parts.map(([name, view, whose, carries]) => (
        <Section key={name} id={`envelope-${name.toLowerCase()}`} title={name}>
          {view !== null && <p class="faint">{whose}</p>}
          {view !== null && <Carries what={carries} />}
          {view === null ? <p class="none">not in this envelope</p> : <LongText view={view} label={name} of={turn} />}
        </Section>
      ))}
    </>
  );
}
