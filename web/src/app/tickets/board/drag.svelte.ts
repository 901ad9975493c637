type Parts = typeof import('./drag-and-drop');

/**
 * What a drag needs, loaded once a mouse comes to a board: a first page has 7 kB less. A finger presses as soon as it
 * comes, so where there are fingers it is loaded with the board.
 */
class Drag {
  parts = $state.raw<Parts>();
  #loading?: Promise<void>;

  constructor() {
    if (matchMedia('(any-pointer: coarse)').matches) this.load();
  }

  load(): void {
    this.#loading ??= import('./drag-and-drop').then(
      (parts) => void (this.parts = parts),
      () => undefined, // the app itself says that a part is missing
    );
  }
}

export const drag = new Drag();
