import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** A button whose act cannot be undone: it asks once more, in its place. */
export function ConfirmButton({
  label,
  question,
  act,
  strong = false,
}: {
  readonly label: string;
  readonly question: string;
  readonly act: () => void;
  readonly strong?: boolean;
}) {
  const [asking, setAsking] = useState(false);
  const yes = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (asking) yes.current?.focus();
  }, [asking]);
  if (!asking) {
    return (
      <button type="button" class={strong ? 'is-strong' : ''} onClick={() => setAsking(true)}>
        {label}
      </button>
    );
  }
  return (
    <fieldset class="confirm">
      <legend>{question}</legend>
      <button
        type="button"
        class="is-strong"
        ref={yes}
        onClick={() => {
          setAsking(false);
          act();
        }}
      >
        Yes
      </button>{' '}
      <button type="button" onClick={() => setAsking(false)}>
        No
      </button>
    </fieldset>
  );
}
