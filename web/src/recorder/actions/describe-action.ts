/**
 * A person's actions in words: "Clicked button “Apply gift card”". The server writes the same words
 * (ticketbox/domain/captures/steps.py); both are tested with tests/domain/captures/steps.json.
 */
import type { ActionEntry, ActionTarget } from '../capture-types';

const MAX_NAME = 80;
const MAX_URL = 160;
const ROLES: { [role: string]: string } = {
  combobox: 'combo box',
  img: 'image',
  listitem: 'list item',
  menuitem: 'menu item',
  radio: 'radio button',
  searchbox: 'search field',
  spinbutton: 'number field',
  textbox: 'field',
  treeitem: 'tree item',
};
const VALUES: { [kind: string]: string } = {
  color: 'a color',
  date: 'a date',
  email: 'an email address',
  number: 'a number',
  tel: 'a phone number',
  time: 'a time',
  url: 'an address',
};

const NAVIGATIONS: { [how: string]: string } = {
  back: 'Went back to',
  forward: 'Went forward to',
  reload: 'Reloaded',
};

/** Describe an action in words, in the past tense. */
export function describeAction(entry: ActionEntry): string {
  const { repeat = 1 } = entry;
  const words =
    describe(entry) + (repeat > 1 && !isDouble(entry) ? `, ${repeat.toLocaleString('en')} times` : '');
  return entry.synthetic ? `${words} (by a script)` : words;
}

function describe(entry: ActionEntry): string {
  const { kind, target, to, value_kind: value, url, key } = entry;
  switch (kind) {
    case 'navigate':
      return `${NAVIGATIONS[value ?? ''] ?? 'Opened'} ${url ? shortenAddress(url) : 'a page'}`;
    case 'click':
      return `${nameClick(entry)} ${value === 'private' ? 'a private field' : nameElement(target)}${key ? ` with ${key}` : ''}`;
    case 'drag':
      return `Dragged ${nameElement(target)}${to ? ` to ${nameElement(to)}` : ''}`;
    case 'hover':
      return `Hovered over ${nameElement(target)}`;
    case 'dialog':
      return describeDialog(entry);
    case 'input':
      return describeInput(value ?? '', target);
    case 'change':
      if (value === 'option') return `Selected an option in ${nameField(target)}`;
      return value === 'file' ? `Chose a file for ${nameField(target)}` : `Changed ${nameElement(target)}`;
    case 'submit':
      return `Submitted ${nameElement(target)}`;
    case 'key':
      return `Pressed ${key ?? 'a key'}${target ? ` in ${nameField(target)}` : ''}`;
    case 'scroll':
      return `Scrolled ${nameElement(target)}`;
    case 'visibility':
      return value === 'visible' ? 'Returned to the page' : 'Left the page';
    case 'resize':
      return 'Resized the window';
  }
}

function nameClick(entry: ActionEntry): string {
  if (entry.button) return entry.button === 'right' ? 'Right-clicked' : 'Middle-clicked';
  return isDouble(entry) ? 'Double-clicked' : 'Clicked';
}

function isDouble({ kind, repeat, synthetic }: ActionEntry): boolean {
  return kind === 'click' && repeat === 2 && !synthetic;
}

function describeDialog({ dialog, accepted }: ActionEntry): string {
  if (dialog === 'alert') return 'Closed an alert';
  const name = dialog === 'prompt' ? 'a prompt' : 'a confirmation';
  if (!accepted) return `Dismissed ${name}`;
  return `${dialog === 'prompt' ? 'Answered' : 'Accepted'} ${name}`;
}

function describeInput(value: string, target: ActionEntry['target']): string {
  const [kind = '', length = ''] = value.split(' ');
  if (kind === 'private') return 'Typed into a private field';
  if (kind === 'empty') return `Cleared ${nameField(target)}`;
  const known = Object.hasOwn(VALUES, kind) ? VALUES[kind] : null;
  const words = known ?? (length && `${length} ${length === '1' ? 'character' : 'characters'}`);
  return `Typed ${words ? `${words} ` : ''}into ${nameField(target)}`;
}

/** Name a field by its label alone: what it is, is clear from what was done. */
function nameField(target: ActionTarget | null | undefined): string {
  const name = clip(target?.name);
  return name ? `“${name}”` : nameElement(target);
}

/** Name an element: its role and its name, text, or locator. */
export function nameElement(target: ActionTarget | null | undefined): string {
  if (!target) return 'the page';
  const known = target.role && Object.hasOwn(ROLES, target.role) ? ROLES[target.role] : null;
  const role = known ?? target.role ?? '';
  const name = clip(target.name) || clip(target.text);
  if (name) return `${role} “${name}”`.trimStart();
  const place = target.test_id || target.selectors?.at(-1);
  if (place && !place.startsWith('internal:')) return `${role || 'element'} ${clip(place)}`;
  return `${/^[aeiou]/.test(role || 'element') ? 'an' : 'a'} ${role || 'element'}`;
}

function clip(text: string | null | undefined): string {
  const line = (text ?? '')
    .slice(0, 4 * MAX_NAME)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= MAX_NAME ? line : `${line.slice(0, MAX_NAME - 1)}…`;
}

/** The path, query and hash route of an address; all of it if it has no host. */
function shortenAddress(url: string): string {
  const parts = URL.parse(url);
  const route = parts && /^#[/!]/.test(parts.hash) ? parts.hash : '';
  const path = (parts?.host && parts.pathname + parts.search + route) || url;
  return path.length <= MAX_URL ? path : `${path.slice(0, MAX_URL - 1)}…`;
}
