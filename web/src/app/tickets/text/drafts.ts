const PREFIX = 'draft:';

/** Load unsent text, which this tab keeps when the page is left. */
export function loadDraft(name: string): string {
  return sessionStorage.getItem(PREFIX + name) ?? '';
}

/** Save unsent text; an empty string deletes it. */
export function saveDraft(name: string, text: string): void {
  if (text) sessionStorage.setItem(PREFIX + name, text);
  else sessionStorage.removeItem(PREFIX + name);
}
