import { createElement } from './create-element';
import { POINTER } from './pointer-element';
import styles from './styles.css?inline';

const COVER = 'all: initial; position: fixed; inset: 0; width: 100%; height: 100%; z-index: 2147483647';
const NOTICE_MS = 10_000;

/** Show an element over the page, with nothing of the page's style. `host` gets a shadow root for it. */
export function showOverPage(host: HTMLElement, root: HTMLElement): void {
  host.setAttribute('data-private', ''); // no replay shows what is typed
  host.setAttribute('popover', 'manual');
  for (const each of COVER.split('; '))
    host.style.setProperty(...(each.split(': ') as [string, string]), 'important');
  const shadow = host.attachShadow({ mode: 'open' });
  addStyles(shadow, styles.replaceAll(':root', '.root'));
  [root.lang, root.dir] = ['en', 'ltr']; // whatever the page's are
  shadow.append(root);
  findLayer().append(host);
  host.showPopover?.(); // over dialogs, too
}

/** Show a sentence over the page for some seconds. */
export function showNotice(text: string): void {
  const host = document.createElement(POINTER);
  const bar = createElement('div', { class: 'bar notice', role: 'status' }, text);
  showOverPage(host, createElement('section', { class: 'root' }, bar));
  host.style.setProperty('pointer-events', 'none', 'important');
  setTimeout(() => host.remove(), NOTICE_MS);
}

/** Where the host isn't inert: in the topmost modal dialog, if one is open. */
function findLayer(): Element {
  const modals = [...document.querySelectorAll('dialog:modal')];
  const topmost = document.elementFromPoint(0, 0);
  return modals.findLast((each) => each.contains(topmost)) ?? modals.at(-1) ?? document.documentElement;
}

/** Add a style sheet. Firefox doesn't let an extension's script adopt one; there, an element's isn't subject to the page's policy. */
function addStyles(shadow: ShadowRoot, text: string): void {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    shadow.adoptedStyleSheets = [sheet];
  } catch {
    shadow.append(createElement('style', {}, text));
  }
}
