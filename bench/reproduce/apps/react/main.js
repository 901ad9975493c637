// A shop, with React.
import { createElement as h, useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';

const bug = (name) => window.BUG === name;
const TEXTS = { 'cart.title': 'Your cart', 'cart.none': 'The cart is empty', 'shop.title': 'Shop' };

async function call(method, path, body) {
  const response = await fetch(`/api/${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
  const isJson = response.headers.get('content-type')?.includes('json');
  return { ok: response.ok, answer: isJson ? await response.json() : {} };
}

function translate(key) {
  if (!(key in TEXTS)) console.error(`Missing text: ${key}`);
  return TEXTS[key] ?? key;
}

function formatPrice(price) {
  return bug('price-format') ? price.toFixed(2) : Number(price).toFixed(2);
}

function Details({ id, onClose }) {
  const [product, setProduct] = useState(null);
  const shown = useRef(id);
  const closed = useRef(false);
  useEffect(() => {
    void call('GET', `products/${id}`).then(({ ok, answer }) => {
      if (closed.current && !bug('closed-details')) return;
      if (ok) document.querySelector(`#details-${shown.current}`).title = answer.name;
      if (ok) setProduct(answer);
    });
    return () => { closed.current = true; };
  }, [id]);
  return h('section', { id: `details-${id}` },
    h('h2', null, product?.name ?? 'Loading'),
    product && h('p', null, `Costs ${formatPrice(product.price)}`),
    h('button', { onClick: onClose }, 'Close details'));
}

function Coupon() {
  const [message, setMessage] = useState('');
  const apply = async (event) => {
    event.preventDefault();
    const code = new FormData(event.target).get('code');
    const { answer } = await call('POST', 'coupons', { code });
    setMessage(bug('coupon-null') ? answer.discount.amount : (answer.discount?.amount ?? 'No discount'));
  };
  return h('form', { onSubmit: apply },
    h('label', null, 'Coupon ', h('input', { name: 'code' })), h('button', null, 'Apply coupon'), h('p', null, message));
}

function Cart({ lines, setLines }) {
  const [message, setMessage] = useState('');
  const [isOpen, setOpen] = useState(false);
  const total = useRef(0);
  const sum = lines.reduce((all, { price, quantity }) => all + Number(price) * quantity, 0);
  useEffect(() => { if (!bug('stale-total') || total.current < sum) total.current = sum; }, [sum]);
  const change = async (line, quantity) => {
    if (quantity < 0 && !bug('negative')) return;
    const { ok, answer } = await call('PATCH', `cart/${line.id}`, { quantity });
    if (ok) setLines(lines.map((each) => (each === line ? { ...each, quantity } : each)));
    else setMessage(answer.error ?? 'This is not possible.');
  };
  const order = async () => {
    if (total.current !== sum) console.error(`The total is ${total.current}, but the lines cost ${sum}`);
    const { ok, answer } = await call(bug('method') ? 'PUT' : 'POST', 'orders', { lines: lines.length });
    setMessage(ok ? `Order ${answer.number}` : (answer.error ?? 'This is not possible.'));
  };
  return h('aside', null,
    h('h2', null, translate('cart.title')),
    lines.length === 0 && h('p', null, translate(bug('missing-text') ? 'cart.empty' : 'cart.none')),
    lines.map((line) => h('p', { key: line.id }, `${line.name}: ${line.quantity} `,
      h('button', { onClick: () => change(line, line.quantity + 1) }, `More of ${line.name}`),
      h('button', { onClick: () => change(line, line.quantity - 1) }, `Less of ${line.name}`))),
    h('button', { onClick: order }, 'Order'),
    h('button', { onClick: () => setOpen(true) }, 'Show terms'),
    isOpen && h('dialog', { open: true, style: bug('dialog') ? { top: 2_000 } : {} }, 'Terms'),
    h('p', { role: 'status' }, message));
}

function App() {
  const [products, setProducts] = useState([]);
  const [query, setQuery] = useState('');
  const [lines, setLines] = useState([]);
  const [open, setOpen] = useState(null);
  const newest = useRef('');
  const first = useRef([]);
  const search = async (text) => {
    setQuery(text);
    newest.current = text;
    const { ok, answer } = await call('GET', `products?q=${encodeURIComponent(text)}`);
    if (newest.current !== text && !bug('search-order')) return;
    if (newest.current !== text) console.error(`The results of “${text}” are shown for “${newest.current}”`);
    if (ok) setProducts(answer.items);
    if (ok && first.current.length === 0) first.current = answer.items;
  };
  useEffect(() => void search(''), []);
  const sort = () => setProducts([...products].reverse());
  const show = (index) => setOpen((bug('stale-order') ? first.current : products)[index].id);
  return h('main', null,
    h('h1', null, translate('shop.title')),
    h('label', null, 'Search ', h('input', { value: query, onChange: ({ target }) => search(target.value) })),
    h('button', { onClick: sort }, 'Reverse'),
    h('ul', null, products.map((product, index) => h('li', { key: product.id },
      h('button', { onClick: () => show(index) }, `Show ${product.name}`),
      h('button', { onClick: () => setLines([...lines, { ...product, quantity: 1 }]) }, `Add ${product.name}`)))),
    open !== null && h(Details, { key: open, id: open, onClose: () => setOpen(null) }),
    h(Coupon), h(Cart, { lines, setLines }));
}

createRoot(document.querySelector('#app')).render(h(App));
