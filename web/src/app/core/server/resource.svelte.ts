/** Data from the server: loading, loaded or failed. `ui/feedback/AsyncContent` shows all three states. */
export class Resource<T> {
  value = $state.raw<T | undefined>(undefined);
  error = $state.raw<unknown>(undefined);
  #fetch: () => Promise<T>;

  constructor(fetch: () => Promise<T>) {
    this.#fetch = fetch;
    this.load();
  }

  /** Load the data again. The old value stays until the response arrives. */
  async load(): Promise<void> {
    try {
      this.value = await this.#fetch();
      this.error = undefined;
    } catch (error) {
      this.error = error;
    }
  }
}
