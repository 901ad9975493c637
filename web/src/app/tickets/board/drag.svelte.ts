type Parts = typeof import('./drag-and-drop');

/** What a drag needs, loaded once a pointer comes to a board: a first page has 7 kB less. */
class Drag {
  parts = $state.raw<Parts>();
  #loading?: Promise<void>;

  load(): void {
    this.#loading ??= import('./drag-and-drop').then(
      (parts) => void (this.parts = parts),
      () => undefined, // the app itself says that a part is missing
    );
  }
}

export const drag = new Drag();
