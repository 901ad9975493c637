import { fail } from '../errors.js';

const RATE = 0.19;

export class Cart {
  #items = [];

  constructor(items = []) {
    for (const item of items) this.add(item);
  }

  static parse(text) {
    const parsed = JSON.parse(text);
    return new Cart(parsed.items);
  }

  add(item) {
    if (!item.price) {
      fail(`no price of ${item.name}`);
    }
    this.#items.push(item);
  }

  total() {
    return this.#items.reduce((sum, item) => sum + this.#withTax(item), 0);
  }

  #withTax(item) {
    return item.price.amount.valueOf() * (1 + RATE);
  }

  get first() {
    return this.#items[0].name.trim();
  }

  async load(fetcher) {
    const answer = await fetcher();
    return this.apply(answer);
  }

  apply(answer) {
    answer.items.forEach((item) => {
      this.add(item);
    });
  }
}
