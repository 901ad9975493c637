// What all pages of the shop share: the header, the calls of the API, and the bar that breaks the shop.
import { fault } from './fault.js';

const FAULTS = [
  ['none', 'Nothing', 'Everything works. Choose what to break, and then capture the bug.'],
  ['gift-card', 'Gift card', 'Apply a gift card in the cart, such as SPRING50: the page throws an error.'],
  ['order', 'Order', 'Place an order: the API answers 500.'],
  ['search', 'Search', 'Type “oak” quickly: the results of “o” replace those of “oak”.'],
  ['total', 'Total', 'Add a second piece of a product: the total stays the same.'],
];

/** Create an element with properties and children. */
export function create(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Show cents as an amount. */
export function formatMoney(cents) {
  return new Intl.NumberFormat('en-IE', { style: 'currency', currency: 'EUR' }).format(cents / 100);
}

/** Call the API. Returns the status and what it answered. */
export async function call(method, path, body) {
  const response = await fetch(`api/${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
  });
  return { status: response.status, ok: response.ok, answer: await response.json() };
}

/** Show how many things are in the cart. */
export function showCount(cart) {
  const count = cart.lines.reduce((sum, line) => sum + line.quantity, 0);
  const badge = document.querySelector('#bag b');
  badge.textContent = count;
  badge.hidden = count === 0;
}

/** The picture of a product. */
export function createPicture({ picture }) {
  return create('img', { src: `pictures/${picture}.svg`, alt: '', width: 400, height: 480 });
}

function createHeader() {
  const bag = create('a', { id: 'bag', href: 'cart' }, 'Cart ', create('b', { hidden: true }));
  const brand = create('a', { className: 'brand', href: './' }, 'Lumen ', create('i', {}, '&'), ' Oak');
  return create('header', {}, brand, create('nav', { ariaLabel: 'Shop' }, create('a', { href: './' }, 'Shop'), bag));
}

function createFaultBar() {
  const choices = FAULTS.map(([value, name]) => {
    const input = create('input', { type: 'radio', name: 'fault', value, checked: value === fault });
    input.addEventListener('change', async () => {
      await call('PUT', 'fault', { fault: value });
      location.reload();
    });
    return create('label', {}, input, create('span', {}, name));
  });
  const [, , hint] = FAULTS.find(([value]) => value === fault) ?? FAULTS[0];
  const fields = create('fieldset', {}, create('legend', {}, 'Break:'), ...choices);
  return create('section', { id: 'faults', className: fault, ariaLabel: 'Sample shop' },
    create('b', {}, 'Sample shop'), fields, create('p', {}, hint));
}

document.body.prepend(
  create('p', { className: 'notice' }, 'Free delivery on orders over €150 · 60-day returns'),
  createHeader(),
);
document.body.append(createFaultBar());
