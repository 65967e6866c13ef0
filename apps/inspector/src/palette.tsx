import { useEffect, useRef, useState } from 'preact/hooks';

/** Something that the page can do now: a link, a button or a field of it. */
interface Action {
  readonly name: string;
  readonly element: HTMLElement;
}

/** Most actions that are listed. */
const MOST = 12;

/** What can be followed, pressed or filled in. */
const ACTIONS = ['a[href]', 'button:not(:disabled)', 'summary', 'input', 'select', 'textarea', '[role=slider]'];

/** The name of an element. A field is named by its label; that of a list begins with the name. */
function nameOf(element: HTMLElement): string {
  const labels = 'labels' in element && element.labels instanceof NodeList ? element.labels : null;
  const label = element instanceof HTMLSelectElement ? labels?.[0]?.firstChild : labels?.[0];
  return element.getAttribute('aria-label') ?? label?.textContent ?? element.textContent;
}

/** Everything in the page that can be followed, pressed or filled in, by its name. */
function actionsOf(): readonly Action[] {
  const found = document.querySelectorAll<HTMLElement>(`:is(header, main) :is(${ACTIONS.join()})`);
  const names = new Set<string>();
  return [...found].flatMap((element) => {
    const name = nameOf(element).replaceAll(/\s+/g, ' ').trim().slice(0, 120);
    if (name === '' || names.has(name) || element.closest('dialog, #palette-open') !== null) return [];
    names.add(name);
    return [{ name, element }];
  });
}

/** Finds an action of the page by its words: Ctrl-K opens it. */
export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [actions, setActions] = useState<readonly Action[]>([]);
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  const open = () => {
    setActions(actionsOf());
    setWords('');
    setAt(0);
    dialog.current?.showModal();
  };
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      if (dialog.current?.open) dialog.current.close();
      else open();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
  const wanted = words.toLowerCase().split(/\s+/);
  const found = actions.filter(({ name }) => wanted.every((word) => name.toLowerCase().includes(word))).slice(0, MOST);
  const chosen = Math.min(at, found.length - 1);
  const run = (action: Action | undefined) => {
    dialog.current?.close();
    if (action === undefined) return;
    action.element.focus();
    action.element.click();
  };
  return (
    <>
      <button type="button" id="palette-open" class="quiet" onClick={open}>
        Actions <kbd>Ctrl K</kbd>
      </button>
      <dialog ref={dialog} class="palette" aria-label="Actions">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            run(found[chosen]);
          }}
        >
          <input
            type="text"
            // biome-ignore lint/a11y/noRedundantRoles: without a list in the page, the browser gives it another role
            role="combobox"
            list={undefined}
            aria-expanded="true"
            aria-controls="palette-list"
            aria-activedescendant={found.length === 0 ? undefined : `palette-${chosen}`}
            aria-label="Words of an action"
            placeholder="approve, calls, log, copy …"
            value={words}
            onInput={({ currentTarget }) => {
              setWords(currentTarget.value);
              setAt(0);
            }}
            onKeyDown={(event) => {
              const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
              if (by === undefined) return;
              event.preventDefault();
              setAt(Math.max(0, Math.min(found.length - 1, chosen + by)));
            }}
          />
        </form>
        <div id="palette-list" role="listbox" aria-label="Actions">
          {found.map((action, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys belong to the field above, which keeps the focus
            // biome-ignore lint/a11y/useFocusableInteractive: as above
            <div
              key={action.name}
              id={`palette-${index}`}
              role="option"
              aria-selected={index === chosen}
              onClick={() => run(action)}
            >
              {action.name}
            </div>
          ))}
        </div>
        {found.length === 0 && <p class="none">The page has no such action.</p>}
      </dialog>
    </>
  );
}
