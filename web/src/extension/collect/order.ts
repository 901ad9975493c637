/** Positions that the streams of a page share. */
export class Order {
  #last = 0;
  next(): number {
    return ++this.#last;
  }
}
