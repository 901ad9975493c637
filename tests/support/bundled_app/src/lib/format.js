import { fail } from '../errors.js';

export const formatPrice = (price) => {
  const text = `${price.amount.toFixed(2)} ${price.currency}`;
  return text;
};

export const formatAll = (prices) => prices.map((price) => formatPrice(price));

export default function formatDate(date) {
  const pattern = /[/{]"(\d+)/;
  if (pattern.test(date)) {
    return date;
  }
  return fail(`date ${date}`);
}

export const table = {
  render(rows) {
    return rows.map((row) => this.cell(row));
  },
  cell: function (row) {
    return row.cells.join(' | ');
  },
};

export function* walk(nodes) {
  for (const node of nodes) {
    yield node.value.toString();
  }
}
