import { overlay } from './overlay.svelte';
import { readLatinKey } from '../../shared/keyboard';

/** A keyboard shortcut of the components on the screen. The help dialog and the palette list it. */
export interface Shortcut {
  /** `c`, `?`, `Space`, `mod+k` (Cmd on a Mac, Ctrl elsewhere), or a sequence: `g b`. */
  keys: string;
  label: string;
  /** Whether it works on every page. */
  isGlobal?: boolean;
  run: () => void;
}

const SEQUENCE_MS = 1_000;
const QUIET_MS = 1_000;
export const isMac = /Mac|iP(hone|ad)/.test(navigator.platform);

class ShortcutRegistry {
  #shell = $state.raw<Shortcut[]>([]);
  #page = $state.raw<Shortcut[]>([]);
  /** The same, because state that an effect's teardown reads is older than what other effects have just added. */
  #now: { shell: Shortcut[]; page: Shortcut[] } = { shell: [], page: [] };
  #lastKey = '';
  #lastKeyAt = 0;
  /** Until when letters do nothing, because they were meant for a field that couldn't be opened. */
  #quietUntil = 0;

  constructor() {
    addEventListener('keydown', (event) => this.#handleKey(event));
  }

  /** The shell's, then the page's. */
  get active(): Shortcut[] {
    return [...this.#shell, ...this.#page];
  }

  addToShell(shortcut: Shortcut): () => void {
    const change = (now: Shortcut[]) => (this.#shell = this.#now.shell = now);
    change([...this.#now.shell, shortcut]);
    return () => change(this.#now.shell.filter((each) => each !== shortcut));
  }

  addToPage(shortcut: Shortcut): () => void {
    const change = (now: Shortcut[]) => (this.#page = this.#now.page = now);
    change([...this.#now.page, shortcut]);
    return () => change(this.#now.page.filter((each) => each !== shortcut));
  }

  quiet(): void {
    this.#quietUntil = performance.now() + QUIET_MS;
  }

  #handleKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.repeat || event.altKey) return;
    if (event.key === ' ' && isControl(event.target)) return;
    const key = nameKey(event);
    const mod = key.startsWith('mod+');
    if (!mod && event.timeStamp < this.#quietUntil && !isTyping(event.target)) return this.quiet();
    if (!mod && (event.ctrlKey || event.metaKey || isOverlayOpen())) return;
    if ((!mod || key === 'mod+z') && isTyping(event.target)) return; // a text field has its own undo
    const sequence = event.timeStamp - this.#lastKeyAt < SEQUENCE_MS ? `${this.#lastKey} ${key}` : key;
    // The last one wins, so a page overrides the shell.
    const found =
      this.active.findLast((each) => each.keys === sequence) ??
      this.active.findLast((each) => each.keys === key);
    this.#lastKey = key;
    this.#lastKeyAt = event.timeStamp;
    if (!found) return;
    event.preventDefault();
    found.run();
  }
}

const registry = new ShortcutRegistry();

/** Ignore letters until nobody has typed for a second: what they were meant for couldn't be opened. */
export function ignoreTyping(): void {
  registry.quiet();
}

/** The shortcuts that work now: of those with the same keys, the last one. */
export function activeShortcuts(): Shortcut[] {
  return [...new Map(registry.active.map((each) => [each.keys, each])).values()];
}

/** Register a page's shortcut until the returned function is called: `$effect(() => addShortcut(…))`. */
export function addShortcut(keys: string, label: string, run: () => void): () => void {
  return registry.addToPage({ keys, label, run });
}

/** Register a shortcut that works on every page, unless the page has one with the same keys. */
export function addShellShortcut(keys: string, label: string, run: () => void): () => void {
  return registry.addToShell({ keys, label, isGlobal: true, run });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type=checkbox], [type=radio]), textarea, select'))
  );
}

/** Whether Space acts on an element. */
function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('button, summary, input, select, [role]') !== null;
}

/** Whether a dialog or a menu is open, or is being loaded, which then gets the keys. */
function isOverlayOpen(): boolean {
  return overlay.open !== null || document.querySelector('[role="dialog"], [role="menu"]') !== null;
}

/** What a pressed key is called in `keys`. */
export function nameKey(event: KeyboardEvent): string {
  const name = event.key === ' ' ? 'Space' : readLatinKey(event);
  return (isMac ? event.metaKey : event.ctrlKey) ? `mod+${name.toLowerCase()}` : name;
}

/** The names of a shortcut's keys, one for each key cap: "g i" is G and I, "mod+k" Ctrl and K. */
export function nameKeys(keys: string): string[] {
  return keys
    .replace('mod', isMac ? '⌘' : 'Ctrl')
    .replace(/^[A-Z]$/, (key) => `Shift ${key}`)
    .split(/[ +]/);
}
