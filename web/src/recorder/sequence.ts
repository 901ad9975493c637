/** Sequence numbers that put the entries of several streams in one order. */
export class Sequence {
  #last = 0;
  next(): number {
    return ++this.#last;
  }
}
