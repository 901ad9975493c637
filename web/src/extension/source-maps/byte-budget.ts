/** The bytes that several loads may have together. A load reserves the most that it may read, so they never have more. */
export class ByteBudget {
  /** What is neither used nor reserved. */
  #free: number;
  #reservations = 0;
  #waiting: (() => void)[] = [];

  constructor(bytes: number) {
    this.#free = bytes;
  }

  /** Reserve bytes for a load, less if no more are left. Waits while other loads may give some back. */
  async reserve(most: number): Promise<number> {
    while (this.#free < most && this.#reservations)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const reserved = Math.min(most, this.#free);
    this.#free -= reserved;
    this.#reservations += 1;
    return reserved;
  }

  /** End a load: what it didn't use is free again. */
  release(reserved: number, used: number): void {
    this.#free += reserved - used;
    this.#reservations -= 1;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
