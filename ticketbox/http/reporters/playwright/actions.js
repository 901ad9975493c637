/** Actions from the calls of a trace: what a person would have done, without what was typed. */
import { classify } from './entries.js';

const CLASSES = new Set(['Frame', 'Page', 'ElementHandle']);
const CHANGES = { selectOption: 'option', setInputFiles: 'file' };
const CLICKS = { click: 1, tap: 1, check: 1, uncheck: 1, mouseClick: 1, dblclick: 2 };
const OTHERS = {
  reload: 'navigate',
  goBack: 'navigate',
  goForward: 'navigate',
  mouseWheel: 'scroll',
  setViewportSize: 'resize',
};
const MODIFIERS = { Control: 'Ctrl', ControlOrMeta: 'Ctrl', Alt: 'Alt', Shift: 'Shift', Meta: 'Meta' };
const STRING = '"((?:[^"\\\\]|\\\\.)*)"[is]?';
const ROLE = new RegExp(`^internal:role=([a-z]+)(?:\\[name=${STRING}\\])?`);
const NAME = new RegExp(`^internal:(?:label=|attr=\\[(?:placeholder|title|alt)=)${STRING}`);
const TEST_ID = new RegExp(`^internal:testid=\\[[\\w-]+=${STRING}`);
const TEXT = new RegExp(`^internal:text=${STRING}`);
const DESCRIBED = new RegExp(`^([^]*) >> internal:describe=${STRING}$`); // of Locator.describe
const MAX_LINE = 4_096;

/** Build the action of a call; null for one that a person doesn't do, such as an expectation. */
export function buildAction({ class: className, method, params = {} }, ts) {
  if (!CLASSES.has(className)) return null;
  const target = params.selector ? describeTarget(params.selector) : null;
  if (Object.hasOwn(CHANGES, method)) return { ts, kind: 'change', target, value_kind: CHANGES[method] };
  if (Object.hasOwn(CLICKS, method)) return { ts, kind: 'click', target, repeat: CLICKS[method] };
  if (Object.hasOwn(OTHERS, method)) return { ts, kind: OTHERS[method] };
  switch (method) {
    case 'goto':
      return { ts, kind: 'navigate', url: params.url };
    case 'fill':
      return { ts, kind: 'input', target, value_kind: classify(params.value) };
    case 'type':
    case 'keyboardType':
    case 'keyboardInsertText':
      return { ts, kind: 'input', target, value_kind: classify(params.text) };
    case 'press':
    case 'keyboardPress': {
      const key = nameKey(params.key ?? '');
      return key
        ? { ts, kind: 'key', target, key }
        : { ts, kind: 'input', target, value_kind: classify(params.key) };
    }
    default:
      return null;
  }
}

/** Describe the element that a selector finds; what its last part says is its name. */
function describeTarget(selector) {
  const [, located = selector, description] = (selector.length <= MAX_LINE && DESCRIBED.exec(selector)) || [];
  const isLasting = located.length <= MAX_LINE && !located.startsWith('aria-ref='); // numbers of one snapshot
  const target = { selectors: isLasting ? [located] : [] };
  const found = findName(located.slice(0, MAX_LINE).split(' >> ').at(-1));
  const isNamed = found.name || found.test_id || found.text;
  return { ...target, ...found, ...(description && !isNamed ? { name: unquote(description) } : {}) };
}

function findName(last) {
  const role = ROLE.exec(last);
  if (role) return { role: role[1], name: unquote(role[2]) };
  const named = NAME.exec(last);
  if (named) return { name: unquote(named[1]) };
  const tested = TEST_ID.exec(last);
  if (tested) return { test_id: unquote(tested[1]) };
  const text = TEXT.exec(last);
  return text ? { text: unquote(text[1]) } : {};
}

function unquote(text) {
  return text === undefined ? null : text.replace(/\\(.)/g, '$1');
}

/** Name a key or a shortcut; null for a typed character. */
function nameKey(pressed) {
  const parts = pressed.split(/\+(?=.)/);
  const key = parts.pop();
  const held = parts.filter((each) => Object.hasOwn(MODIFIERS, each)).map((each) => MODIFIERS[each]);
  if (key.length === 1) {
    if (held.every((each) => each === 'Shift') || /[\s\p{Cc}]/u.test(key)) return null;
    return [...held, key.toUpperCase()].join('+');
  }
  return /^[A-Z][A-Za-z0-9]{1,18}$/.test(key) && !Object.hasOwn(MODIFIERS, key)
    ? [...held, key].join('+')
    : null;
}
