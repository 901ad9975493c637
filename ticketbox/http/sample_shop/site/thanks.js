// What follows an order.
import { call, showCount } from './shop.js';

document.querySelector('#number').textContent = decodeURIComponent(location.hash.slice(1));
showCount((await call('GET', 'cart')).answer);
