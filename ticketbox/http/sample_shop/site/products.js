// The products, and the search.
import { fault } from './fault.js';
import { call, create, createPicture, formatMoney, showCount } from './shop.js';

const grid = document.querySelector('#products');
const field = document.querySelector('[name=q]');

function createTile(product) {
  const button = create('button', { ariaLabel: `Add ${product.name} to the cart` }, 'Add to cart');
  button.addEventListener('click', async () => {
    const { answer } = await call('POST', 'cart/lines', { sku: product.sku });
    showCount(answer);
    button.textContent = 'In the cart';
  });
  return create('article', {},
    createPicture(product),
    create('h2', {}, product.name),
    create('span', { className: 'price' }, formatMoney(product.price)),
    create('p', { className: 'muted small' }, product.about),
    button);
}

async function search() {
  const query = field.value;
  const { answer } = await call('GET', query ? `products?q=${encodeURIComponent(query)}` : 'products');
  const isOutdated = query !== field.value;
  if (isOutdated && fault !== 'search') return; // a later search has been answered, or will be
  grid.replaceChildren(...answer.items.map(createTile));
  const count = answer.items.length;
  document.querySelector('#count').textContent =
    `${count} ${count === 1 ? 'product' : 'products'}${query && ` for “${query}”`}`;
}

document.querySelector('form').addEventListener('submit', (event) => event.preventDefault());
field.addEventListener('input', search);
showCount((await call('GET', 'cart')).answer);
await search();
