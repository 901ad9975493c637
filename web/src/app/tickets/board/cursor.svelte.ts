import type { CardGrid } from './board-model.svelte';
import type { Swimlanes } from './swimlanes/swimlanes.svelte';

/** The card that keys act on. It keeps its place when cards are moved, leave the board or come back. */
export class Cursor {
  /** The card that has the focus. */
  focusedId = $state<string | null>(null);
  /** The card that will get the focus: the virtual list must render it. */
  wantedId = $state<string | null>(null);
  /** The card that last had the focus, or the one that took its place. */
  #id: string | null;
  #link: HTMLElement | null = null;
  /** The cards of its lane, as they were when it was last there. */
  #around: string[] = [];
  /** Cards that an edit of this person takes away. */
  #leaving = new Set<string>();
  readonly #grid: () => CardGrid;

  constructor(grid: () => CardGrid, last: string | null) {
    this.#grid = grid;
    this.#id = last;
  }

  get id(): string | null {
    return this.#id;
  }

  /** Take over the focus that a card has got. */
  enter(id: string, link: HTMLElement): void {
    this.#link = link;
    // a picker gives the focus back to the card that it has just moved away
    if (this.#leaving.delete(id) && this.#id !== null && this.#id !== id) return this.focusCard(this.#id);
    this.focusedId = this.#id = id;
    this.wantedId = null;
  }

  /** The person uses the pointer, and decides with it where the focus is. */
  release(): void {
    this.#link = null;
    this.#leaving.clear();
  }

  /** Continue with the next card before an edit takes cards away. */
  leave(ids: string[]): void {
    const id = this.wantedId ?? this.focusedId ?? this.#id ?? ids[0];
    if (id === undefined) return;
    this.#id = id;
    if (ids.includes(id)) {
      this.#leaving = new Set(ids);
      this.#id = this.#findNext(id) ?? id;
    }
    if (document.activeElement !== document.body) this.focusCard(this.#id);
  }

  /** Follow the board. An effect that calls it runs again when the cards around the cursor change. */
  keep(): void {
    if (this.#id === null) return;
    const { tickets } = this.#grid().listAround(this.#id);
    if (tickets.length > 0) this.#around = tickets.map(({ id }) => id);
    else {
      this.#id = this.#findNext(this.#id) ?? null;
      this.focusedId = null;
    }
    requestAnimationFrame(() => {
      const isLost = this.#link && !this.#link.isConnected && document.activeElement === document.body;
      if (isLost && this.#id !== null) this.focusCard(this.#id);
    });
  }

  /** The nearest card that stays: below, above, or in another lane. */
  #findNext(id: string): string | undefined {
    const grid = this.#grid();
    const { tickets } = grid.listAround(id);
    const ids = tickets.length > 0 ? tickets.map((each) => each.id) : this.#around;
    const index = ids.indexOf(id);
    const nearest = [...ids.slice(index + 1), ...ids.slice(0, index).reverse()];
    const beside = [1, -1].map((across) => grid.ticketBeside(id, across, 0));
    return [...nearest, ...beside, grid.firstTicket()].find(
      (each) => each !== undefined && each !== id && !this.#leaving.has(each) && grid.positionOf(each),
    );
  }

  findCard(id: string | null | undefined): HTMLElement | null {
    if (!id) return null;
    const card = `[data-ticket="${CSS.escape(id)}"]`;
    const swimlane = CSS.escape((this.#grid() as Partial<Swimlanes>).current ?? '');
    return document.querySelector(`[data-swimlane="${swimlane}"] ${card}`) ?? document.querySelector(card);
  }

  /** Focus a card, wherever the lane is scrolled to. */
  focusCard(id: string | undefined): void {
    if (id === undefined) return;
    if (id !== this.#id) this.#leaving.delete(id);
    this.#id = this.wantedId = id;
    requestAnimationFrame(() => {
      if (this.wantedId !== id) return;
      this.wantedId = null;
      const card = this.findCard(id);
      card?.focus({ preventScroll: true });
      card?.closest('li')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    });
  }
}
