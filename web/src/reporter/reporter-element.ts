/**
 * The element of the reporter in a page. It is after the body, which some pages replace. While a modal dialog is open,
 * which makes the rest of the page inert, it is in the dialog.
 */
export class ReporterElement extends HTMLElement {
  static readonly tag = 'ticketbox-reporter';
  readonly #page = document.documentElement;
  #modals: HTMLDialogElement[] = [];

  /** Create the element, and insert it again when the page removes it. */
  static create(): ReporterElement {
    customElements.define(ReporterElement.tag, ReporterElement);
    return document.createElement(ReporterElement.tag) as ReporterElement;
  }

  insert(): void {
    this.#modals = [...document.querySelectorAll<HTMLDialogElement>('dialog:modal')];
    document.addEventListener('toggle', this.#noteDialog, true);
    this.shadowRoot!.addEventListener('toggle', this.#place, true);
    this.#place();
  }

  /** Called by the browser, also if what the element was in is removed. */
  disconnectedCallback(): void {
    queueMicrotask(this.#place);
  }

  readonly #noteDialog = ({ target }: Event): void => {
    if (!(target instanceof HTMLDialogElement)) return;
    this.#modals = [...this.#modals.filter((each) => each !== target), target];
    this.#place();
  };

  readonly #place = (): void => {
    // document.open() has replaced the page and removed all listeners, those of the button too
    if (document.documentElement !== this.#page) return;
    if (this.isConnected && this.shadowRoot!.querySelector('dialog[open]')) return; // moving closes the panel
    const modal = this.#modals.findLast((each) => each.isConnected && each.matches(':modal'));
    const parent = modal ?? this.#page;
    if (this.parentNode !== parent) parent.append(this);
  };
}
