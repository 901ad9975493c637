const PREFIX = 'draft:';

/** What was typed and not sent yet outlives leaving the page, in this tab. */
export function draft(of: string): string {
  return sessionStorage.getItem(PREFIX + of) ?? '';
}

export function keepDraft(of: string, text: string): void {
  if (text) sessionStorage.setItem(PREFIX + of, text);
  else sessionStorage.removeItem(PREFIX + of);
}
