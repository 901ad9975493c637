import type { Redactor } from '../redaction/redactor';

/** Names of members whose text comes from the page's style, not from what it shows; the server redacts them, too. */
const STYLES = new Set(['_cssText', 'style', 'class', 'rule', 'type', 'tagName']);

/** Redact all texts of a replay's events, which are changed in place. */
export function redactTexts<T>(value: T, redactor: Redactor): T {
  if (value === null || typeof value !== 'object') return value;
  const members = value as { [name: string]: unknown };
  for (const [name, member] of Object.entries(members)) {
    if (typeof member === 'object') redactTexts(member, redactor);
    else if (typeof member === 'string' && member.length > 3 && !STYLES.has(name))
      members[name] = redactor.redactText(member);
  }
  return value;
}
