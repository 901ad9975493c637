import { untrack } from 'svelte';

/** Keyboard shortcuts: registered by whatever is on the screen, listed by the help sheet. */

export interface Shortcut {
  /** `c`, `?`, `mod+k` (Cmd on a Mac, Ctrl elsewhere), or two in a row: `g b`. */
  keys: string;
  label: string;
  run: () => void;
}

const SEQUENCE_MS = 1_000;
export const isMac = /Mac|iP(hone|ad)/.test(navigator.platform);

class Keys {
  /** What works now, in the order of registration. */
  active = $state.raw<Shortcut[]>([]);
  #before = '';
  #beforeAt = 0;

  constructor() {
    addEventListener('keydown', (event) => this.#press(event));
  }

  /** Register a shortcut until the returned function is called: `$effect(() => shortcut(…))`. */
  add(shortcut: Shortcut): () => void {
    this.active = [...untrack(() => this.active), shortcut];
    return () => {
      this.active = this.active.filter((each) => each !== shortcut);
    };
  }

  #press(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.repeat || event.altKey) return;
    const mod = isMac ? event.metaKey : event.ctrlKey;
    const key = mod ? `mod+${event.key.toLowerCase()}` : event.key;
    if (!mod && (event.ctrlKey || event.metaKey || isTyping(event.target) || isCovered())) return;
    const sequence = event.timeStamp - this.#beforeAt < SEQUENCE_MS ? `${this.#before} ${key}` : key;
    // the newest registration wins, so that a page may take over what the frame does
    const found =
      this.active.findLast((each) => each.keys === sequence) ??
      this.active.findLast((each) => each.keys === key);
    this.#before = key;
    this.#beforeAt = event.timeStamp;
    if (!found) return;
    event.preventDefault();
    found.run();
  }
}

const keys = new Keys();

/** What works now. */
export function shortcuts(): Shortcut[] {
  return keys.active;
}

/** Register a shortcut; call what is returned to take it back. */
export function shortcut(combination: string, label: string, run: () => void): () => void {
  return keys.add({ keys: combination, label, run });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))
  );
}

/** Whether a dialog or a menu is open; letters belong to that then. */
function isCovered(): boolean {
  return document.querySelector('[role="dialog"], [role="menu"]') !== null;
}
