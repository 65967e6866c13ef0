import { useEffect, useRef, useState } from 'preact/hooks';

/** The keys and what they do; the views add their own, which work while one of their parts has the focus. */
const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['/', 'go to the search of the sessions'],
  ['s', 'list of sessions'],
  ['l', 'decision log'],
  ['o', 'decisions, errors and latencies over time'],
  ['u', 'up: from a turn to its session, from there to what asked it or the list'],
  ['[ ]', 'the turn before, the turn after'],
  ['1 … 9 0', 'parts of a turn'],
  ['Ctrl K', 'find any action of the page'],
  ['j k', 'the next row of a list, the one before'],
  ['↑ ↓ PgUp PgDn Home End', 'move in a list; Enter opens the row'],
  ['← → Home End', 'in Steps: one statement back or forward, the first, the last'],
  ['↑ ↓ ← → Enter Esc', 'in the flame graph: move, enlarge, show everything'],
  ['?', 'this help'],
];

const OFF = 'inspector-shortcuts-off';

/** Whether single keys work; a reader who dictates or whose hands shake can switch them off. A file may not store that. */
function stored(): boolean {
  try {
    return localStorage.getItem(OFF) === null;
  } catch {
    return true;
  }
}

function store(on: boolean): void {
  try {
    if (on) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, '1');
  } catch {
    // Without storage, the choice holds until the page is closed.
  }
}

const follow = (selector: string): boolean => {
  const link = document.querySelector<HTMLElement>(selector);
  link?.click();
  return link !== null;
};

function act(key: string): boolean {
  switch (key) {
    case '/': {
      const search = document.getElementById('search');
      if (search === null) location.hash = '#/';
      search?.focus();
      return true;
    }
    case 's':
      location.hash = '#/';
      return true;
    case 'l':
      return follow('#nav-log');
    case 'o':
      return follow('#nav-series');
    case 'u':
      return follow('#up');
    case 'j':
    case 'k':
      dispatchEvent(new CustomEvent('rows', { detail: key }));
      return document.querySelector('.rows') !== null;
    case '[':
      return follow('#before');
    case ']':
      return follow('#after');
    default:
      return /^\d$/.test(key) && follow(`[data-part="${key === '0' ? 9 : Number(key) - 1}"]`);
  }
}

/** The shortcuts of the page, and the dialog that lists them. */
export function Shortcuts() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [on, setOn] = useState(stored);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, target } = event;
      const typing =
        target instanceof HTMLElement && target.matches('input:not([type=radio], [type=checkbox]), textarea, select');
      if (event.defaultPrevented || typing || event.ctrlKey || event.metaKey || event.altKey || dialog.current?.open) return;
      if (!on) return;
      if (key === '?') dialog.current?.showModal();
      else if (!act(key)) return;
      event.preventDefault();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [on]);
  return (
    <>
      <button type="button" class="quiet" onClick={() => dialog.current?.showModal()}>
        Keys <kbd>?</kbd>
      </button>
      <dialog ref={dialog} aria-labelledby="keys-title">
        <h2 id="keys-title" tabIndex={-1} autofocus>
          Keys
        </h2>
        <table class="plain">
          <tbody>
            {KEYS.map(([keys, does]) => (
              <tr key={keys}>
                <th scope="row" class="keys">
                  {keys.split(' ').map((key) => (key === '…' ? '… ' : <kbd key={key}>{key}</kbd>))}
                </th>
                <td>{does}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p>
          <label>
            <input
              type="checkbox"
              checked={on}
              onChange={({ currentTarget: { checked } }) => {
                setOn(checked);
                store(checked);
              }}
            />{' '}
            shortcuts of a single key
          </label>
        </p>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}
