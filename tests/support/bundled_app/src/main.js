import { Cart } from './lib/cart.js';
import formatDate, { formatAll, formatPrice, table, walk } from './lib/format.js';

function outer(run) {
  return inner(run);
}

function inner(run) {
  return run();
}

const cases = {
  parse: () => Cart.parse('{"items": [{"name": "a"}]}'),
  total: () => new Cart([{ name: 'a', price: {} }]).total(),
  first: () => new Cart([]).first,
  price: () => formatPrice({}),
  prices: () => formatAll([{ amount: 1, currency: 'EUR' }, {}]),
  date: () => formatDate('x'),
  table: () => table.render([{ cells: [] }, {}]),
  walk: () => [...walk([{ value: 1 }, {}])],
  load: () => new Cart().load(async () => ({ items: [{ name: 'b' }] })),
  nested: () => outer(() => outer(() => formatPrice(null))),
  json: () => Cart.parse('{'),
  rethrow() {
    try {
      formatPrice(undefined);
    } catch (error) {
      throw new Error('again', { cause: error });
    }
  },
};

async function main() {
  const stacks = {};
  for (const [name, run] of Object.entries(cases)) {
    try {
      await outer(run);
    } catch (error) {
      stacks[name] = error.stack;
    }
  }
  console.log(JSON.stringify(stacks));
}

main();
