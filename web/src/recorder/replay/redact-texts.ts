import type { Redactor } from '../redaction/redactor';

/** Names of members whose text comes from the page's style, not from what it shows; the server redacts them, too. */
const STYLES = new Set(['_cssText', 'style', 'class', 'rule', 'type', 'tagName']);

/** Redact all texts of a replay's events, which are changed in place. `before` is the text before the next one. */
export function redactTexts<T>(value: T, redactor: Redactor, before = { label: '' }): T {
  if (value === null || typeof value !== 'object') return value;
  const members = value as { [name: string]: unknown };
  for (const [name, member] of Object.entries(members)) {
    if (typeof member === 'object') redactTexts(member, redactor, before);
    else if (name === 'textContent' && typeof member === 'string') {
      members[name] = redactor.redactAfter([before.label], member);
      before.label = member.trim() || before.label;
    } else if (typeof member === 'string' && member.length > 3 && !STYLES.has(name))
      members[name] = redactor.redactText(member);
  }
  return value;
}
