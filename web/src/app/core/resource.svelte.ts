/** Something asked of the server: not there yet, there, or refused. `ui/Loaded` shows whichever it is. */
export class Remote<T> {
  value = $state.raw<T | undefined>(undefined);
  error = $state.raw<unknown>(undefined);
  #ask: () => Promise<T>;

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
    this.load();
  }

  /** Ask again; what is there stays until the answer comes. */
  async load(): Promise<void> {
    try {
      this.value = await this.#ask();
      this.error = undefined;
    } catch (error) {
      this.error = error;
    }
  }
}
