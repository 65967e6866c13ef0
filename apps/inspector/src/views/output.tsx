import type { TurnSide, TurnView } from '../../../../src/ui/views.ts';
import { Section } from '../parts/marks.tsx';
import { Foreign, LongText } from '../parts/text.tsx';

/** The labels that a text carries into the next envelope, under rules about origin. */
export function Carries({ what }: { readonly what: string | null }) {
  return what === null ? null : (
    <p class="carries">
      Carries <Foreign text={what} />
    </p>
  );
}

/** What the program emitted and whispered. */
export function Output({ side, of }: { readonly side: TurnSide; readonly of: TurnView }) {
  return (
    <>
      <Section id="output" title="OUTPUT">
        <Carries what={side.carries.output} />
        <LongText view={side.output} label="OUTPUT" of={of} />
      </Section>
      <Section id="scratchpad" title="SCRATCHPAD">
        <Carries what={side.carries.scratchpad} />
        <LongText view={side.scratchpad} label="SCRATCHPAD" of={of} />
      </Section>
      {side.whispers.length > 0 && (
        <Section id="whispers" title={`Whispers: ${side.whispers.length}`}>
          {side.whispers.slice(0, 200).map(({ to, text }, index) => (
            <div key={index} class="whisper">
              <h3>
                to <Foreign text={to} />
              </h3>
              <LongText view={text} label={`whisper ${index + 1}`} of={of} />
            </div>
          ))}
        </Section>
      )}
    </>
  );
}
