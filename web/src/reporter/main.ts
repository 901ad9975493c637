/**
 * The reporter that pages embed (docs/use/reports.md): `<script src="…/reporter.js" data-key="pub_…" defer></script>`.
 * It records the page from here on, and shows a button, which loads the panel where a person describes a bug.
 */
import styles from './styles.css?inline';
import { addStyles, createReporter, findReporter, type Embedding } from './embedding';
import { createEmptyDocument, loadPanel } from './load-panel';
import { recordPage } from './record-page';
import { ReportAddress } from './report-address';
import { ReporterElement } from './reporter-element';

const script = document.currentScript as HTMLScriptElement | null;
const key = script?.dataset.key;

if (!script || !key) console.warn('ticketbox: the script of the reporter needs data-key.');
else if (!findReporter()) {
  createReporter();
  start(new ReportAddress(script.src, key), script.dataset);
}

function start(address: ReportAddress, attributes: DOMStringMap): void {
  const { trigger, label = 'Report a problem', theme } = attributes;
  const host = ReporterElement.create();
  const isTrigger = (target: EventTarget | null | undefined) =>
    trigger !== undefined && target instanceof Element && target.closest(trigger) !== null;
  const readFrame = recordPage(address, (event) => {
    const path = event.composedPath();
    return path.includes(host) || isTrigger(path[0]);
  });

  const show = () => {
    const embedding = {
      address,
      readFrame,
      readToken: () => attributes.identity,
      emptyDocument: createEmptyDocument,
      ...insertHost(host, label, theme),
    };
    if (trigger === undefined) embedding.root.append(createButton(embedding, label));
    else
      document.addEventListener('click', (event) => {
        if (isTrigger(event.composedPath()[0])) void loadPanel(embedding);
      });
  };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', show, { once: true });
  else show();
}

/** Insert the reporter's element with its style. */
function insertHost(
  host: ReporterElement,
  label: string,
  theme: string | undefined,
): Pick<Embedding, 'root' | 'shadow'> {
  host.style.setProperty('display', 'contents', 'important');
  // the page's shortcuts must not see what is typed
  for (const type of ['keydown', 'keypress', 'keyup'])
    host.addEventListener(type, (event) => event.stopPropagation());
  const shadow = host.attachShadow({ mode: 'open' });
  addStyles(shadow, styles.replaceAll(':root', '.root'));
  const root = document.createElement('section');
  root.className = 'root';
  root.setAttribute('aria-label', label);
  [root.lang, root.dir] = ['en', 'ltr']; // whatever the page's are
  if (theme) root.dataset.theme = theme;
  shadow.append(root);
  host.insert();
  return { root, shadow };
}

function createButton(embedding: Embedding, label: string): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'launcher';
  button.textContent = label;
  button.addEventListener('click', () => {
    button.setAttribute('aria-busy', 'true');
    void loadPanel(embedding).then((isOpen) => {
      button.removeAttribute('aria-busy');
      button.textContent = isOpen ? label : 'Not available. Try again';
    });
  });
  return button;
}
