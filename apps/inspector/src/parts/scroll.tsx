import type { ComponentChildren } from 'preact';

interface ScrollProps {
  readonly label: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/**
 * A part of the page that scrolls on its own. The Tab key reaches it, so that the arrow keys can scroll it. It is no landmark: the section
 * around it is one.
 */
export function Scroll({ label, class: name = '', children }: ScrollProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, what stands outside of the window cannot be read by keyboard
    // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields
    <div role="group" class={`scroll ${name}`} tabIndex={0} aria-label={label}>
      {children}
    </div>
  );
}

/** Lines of text as they are, in a part that scrolls. */
export function Lines({ label, class: name = '', children }: ScrollProps) {
  return (
    <Scroll label={label} class="of-lines">
      <pre class={name}>{children}</pre>
    </Scroll>
  );
}
