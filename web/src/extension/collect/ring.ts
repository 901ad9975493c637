/** The newest entries up to a number and a weight; what had to go is counted. */
export class Ring<T> {
  dropped = 0;
  #entries: { entry: T; weight: number }[] = [];
  #first = 0;
  #weight = 0;

  constructor(
    private readonly most: number,
    private readonly heaviest = Infinity,
  ) {}

  push(entry: T, weight = 0): void {
    this.#entries.push({ entry, weight });
    this.#weight += weight;
    while (this.#entries.length - this.#first > this.most || this.#weight > this.heaviest) {
      this.#weight -= this.#entries[this.#first]!.weight;
      this.#entries[this.#first] = undefined as never;
      this.#first += 1;
      this.dropped += 1;
    }
    if (this.#first > this.most) {
      this.#entries.splice(0, this.#first);
      this.#first = 0;
    }
  }

  get last(): T | undefined {
    return this.#entries.length > this.#first ? this.#entries.at(-1)!.entry : undefined;
  }

  get all(): T[] {
    return this.#entries.slice(this.#first).map((each) => each.entry);
  }
}
