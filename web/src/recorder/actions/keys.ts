/** The keys that a record may name: those that type nothing, and single characters outside fields, as shortcuts. */
const ENTERED = new Set(['Enter', 'Escape', 'Tab']);
const NAMED = /^(?:Arrow(?:Up|Down|Left|Right)|Page(?:Up|Down)|Home|End|Delete|Backspace|F\d{1,2})$/;
const MODIFIERS = ['Control', 'Alt', 'Shift', 'Meta'];
type Modifiers = Pick<MouseEvent, 'ctrlKey' | 'altKey' | 'shiftKey' | 'metaKey'>;
/** Characters that come sooner than this after another are typed text. */
const TYPED_MS = 1_000;
const MOST_CHARACTERS = 2;

/** Where a key is pressed: in a field, in one that reacts to keys, on an element that Space presses, or elsewhere. */
export type KeyPlace = 'field' | 'reacting field' | 'control' | 'page';

/** The name of a key or shortcut; null if it types a character, or only moves in a field. */
export function nameKey(event: KeyboardEvent, place: KeyPlace): string | null {
  const { key } = event;
  if (typeof key !== 'string' || MODIFIERS.includes(key)) return null;
  const isShortcut = (event.ctrlKey || event.metaKey) && !event.getModifierState('AltGraph');
  const isInField = place === 'field' || place === 'reacting field';
  const isNamed = ENTERED.has(key) || (NAMED.test(key) && (place !== 'field' || isShortcut));
  const isCharacter = !isInField && /^[!-~]$/.test(key) && !event.getModifierState('AltGraph');
  const isSpace = key === ' ' && place === 'page';
  if (!isNamed && !isCharacter && !isSpace && !(isShortcut && /^[!-~]$/.test(key))) return null;
  // the character says it already, unless it is a letter
  const shiftKey = event.shiftKey && (isShortcut || key.length > 1 || /^[a-z]$/i.test(key));
  const { ctrlKey, altKey, metaKey } = event;
  const held = nameHeld({ ctrlKey, altKey, shiftKey, metaKey });
  const name = isSpace ? 'Space' : key.length === 1 ? key.toUpperCase() : key;
  return held ? `${held}+${name}` : name;
}

/** The keys that are held during a click or another key, such as `Ctrl+Shift`; '' if none is. */
export function nameHeld({ ctrlKey, altKey, shiftKey, metaKey }: Modifiers): string {
  const held = [ctrlKey && 'Ctrl', altKey && 'Alt', shiftKey && 'Shift', metaKey && 'Meta'];
  return held.filter((each) => each !== false).join('+');
}

/** Tells text that is typed outside fields, such as in an editor that draws itself, from shortcuts. */
export class TypingDetector {
  #characters = new Set<string>();
  #at = -Infinity;

  /** Whether this key and those right before it are text: several different characters, one soon after the other. */
  isTyping(key: string, ts: number): boolean {
    if (!/^(?:Shift\+)?[!-~]$/.test(key) && key !== 'Space') return false;
    if (ts - this.#at > TYPED_MS) this.#characters.clear();
    this.#at = ts;
    this.#characters.add(key);
    return this.#characters.size > MOST_CHARACTERS;
  }
}
