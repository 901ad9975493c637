/** The keys that a record may name: those that type nothing. */
const ENTERED = new Set(['Enter', 'Escape', 'Tab']);
const NAMED = /^(?:Arrow(?:Up|Down|Left|Right)|Page(?:Up|Down)|Home|End|Delete|Backspace|F\d{1,2})$/;
const MODIFIERS = ['Control', 'Alt', 'Shift', 'Meta'];

/** The name of a key or shortcut; null if it types a character, or moves in a field. `isInField`: the focus is in one. */
export function nameKey(event: KeyboardEvent, isInField: boolean): string | null {
  const { key } = event;
  if (typeof key !== 'string' || MODIFIERS.includes(key)) return null;
  const isShortcut = (event.ctrlKey || event.metaKey) && !event.getModifierState('AltGraph');
  const isNamed = ENTERED.has(key) || (NAMED.test(key) && (!isInField || isShortcut));
  if (!isNamed && !(isShortcut && /^[!-~]$/.test(key))) return null;
  const held = [
    event.ctrlKey && 'Ctrl',
    event.altKey && 'Alt',
    event.shiftKey && 'Shift',
    event.metaKey && 'Meta',
  ].filter((each) => each !== false);
  return [...held, key.length === 1 ? key.toUpperCase() : key].join('+');
}
