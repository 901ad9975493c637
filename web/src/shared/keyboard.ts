/**
 * Whether a key belongs to the conversion of an input method, so that Enter confirms it and nothing else. Safari sends
 * the last key after the conversion, with the code 229 (UI Events, 8.3 "Legacy Key Attributes").
 */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}

/**
 * The key without what the layout and Caps Lock make of it: in a layout without Latin letters, the letter that a Latin one
 * has at this place.
 */
export function readLatinKey(event: KeyboardEvent): string {
  const { key, code, shiftKey } = event;
  const [, placed] = /^Key([A-Z])$/.exec(code) ?? [];
  const isForeign = /^\P{ASCII}$/u.test(key) && /^\p{Letter}$/u.test(key);
  if (isForeign && placed) return shiftKey ? placed : placed.toLowerCase();
  if (!/^[a-z]$/i.test(key) || !event.getModifierState('CapsLock')) return key;
  return shiftKey ? key.toUpperCase() : key.toLowerCase();
}
