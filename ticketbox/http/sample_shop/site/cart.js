// The cart: quantities, gift card, order.
import { fault } from './fault.js';
import { call, create, createPicture, formatMoney, showCount } from './shop.js';

const FREE_DELIVERY = 15_000;
const DELIVERY = 990;

/** The sums of a cart, in cents. */
function computeSums(cart) {
  const subtotal = cart.lines.reduce(
    (sum, { price, quantity }) => sum + (fault === 'total' ? price : price * quantity), 0);
  const delivery = subtotal >= FREE_DELIVERY || subtotal === 0 ? 0 : DELIVERY;
  const giftCard = Math.min(cart.gift_card?.amount ?? 0, subtotal + delivery);
  return { subtotal, delivery, giftCard, total: subtotal + delivery - giftCard };
}

/** What a gift card is worth. The API once called it the card's balance. */
function readAmount(card) {
  return fault === 'gift-card' ? card.balance.amount : card.amount;
}

function createLine(line) {
  const change = (step, text, label) => {
    const button = create('button', { type: 'button', ariaLabel: `${label} ${line.name}` }, text);
    button.addEventListener('click', async () => {
      const { answer } = await call('PATCH', `cart/lines/${line.sku}`, { quantity: line.quantity + step });
      show(answer);
    });
    return button;
  };
  return create('article', { className: 'line' },
    createPicture(line),
    create('div', {}, create('h3', {}, line.name), create('p', { className: 'muted small' }, line.about)),
    create('div', { className: 'quantity' },
      change(-1, '−', 'One less of'), create('span', {}, line.quantity), change(1, '+', 'One more of')),
    create('span', { className: 'price' }, formatMoney(line.price * line.quantity)));
}

function show(cart) {
  const { subtotal, delivery, giftCard, total } = computeSums(cart);
  const count = cart.lines.reduce((sum, line) => sum + line.quantity, 0);
  const isEmpty = count === 0;
  showCount(cart);
  document.querySelector('#summary').textContent =
    isEmpty ? 'It is empty.' : `${count} ${count === 1 ? 'item' : 'items'} · Delivered in 2–4 days`;
  document.querySelector('#lines').replaceChildren(...cart.lines.map(createLine));
  const rows = [
    ['Subtotal', formatMoney(subtotal)],
    ['Delivery', delivery ? formatMoney(delivery) : 'Free'],
    ...(giftCard ? [[`Gift card ${cart.gift_card.code}`, formatMoney(-giftCard)]] : []),
    ['Total', formatMoney(total)],
  ];
  document.querySelector('#sums').replaceChildren(
    ...rows.flatMap(([name, value]) => [create('dt', {}, name), create('dd', {}, value)]));
  for (const button of document.querySelectorAll('aside button')) button.disabled = isEmpty;
}

function onSubmit(selector, send) {
  const form = document.querySelector(selector);
  const [button, message] = [form.querySelector('button'), form.querySelector('.message')];
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const text = button.textContent;
    [button.textContent, button.disabled, message.textContent] = ['Please wait…', true, ''];
    message.textContent = await send(Object.fromEntries(new FormData(form)));
    [button.textContent, button.disabled] = [text, false];
  });
}

onSubmit('#gift-card', async ({ code }) => {
  const { ok, answer } = await call('POST', 'cart/gift-card', { code });
  if (!ok) return answer.error;
  const amount = readAmount(answer.card);
  show(answer.cart);
  return `${formatMoney(amount)} are taken off.`;
});

onSubmit('#order', async ({ email, postcode }) => {
  const order = fault === 'order' ? { mail: email, postcode } : { email, postcode };
  const { ok, status, answer } = await call('POST', 'orders', order);
  if (ok) location.assign(`thanks#${answer.order}`);
  else if (status < 500) return answer.error;
  else console.error(`The order failed with status ${status}: ${answer.error}`);
  return ok ? '' : 'We couldn’t place your order. Please try again.';
});

show((await call('GET', 'cart')).answer);
