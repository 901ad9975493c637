import { expect, test } from 'vitest';
import type { TicketDetail } from '../../generated/api';
import { formatTicket } from '../../src/app/tickets/header/format-ticket';

const ticket = { key: 'WEB-7', title: 'Total is NaN', url: 'https://box.example/tickets/WEB-7' };
const frame = { url: 'https://shop.example/main.js', function: 'a', line: 1, column: 900 };
const original = { file: 'src/cart.ts', line: 12, column: 3, context: [] };
const capture = {
  captured_at: '2026-11-24T08:00:00Z',
  page: { url: 'https://shop.example/cart' },
  environment: { os: 'Linux', viewport: { width: 800, height: 600 }, release: 'shop@1' },
  health_summary: 'The replay is incomplete.',
  errors: {
    items: [
      { name: 'TypeError', message: 'nothing', count: 3, frames: [{ ...frame, original }, frame] },
      { name: '', message: 'refused ```', count: 1, frames: [], stack: null },
    ],
  },
  failed_requests: {
    items: [
      { method: 'POST', url: '/api/pay', status: 500, error: null, count: 2 },
      { method: 'GET', url: '/api/cart', status: null, error: null, count: 1 },
    ],
  },
};
const format = (more: object) => formatTicket({ ...ticket, ...more } as unknown as TicketDetail);

test('a ticket is copied with its steps, errors, failed requests and environment', () => {
  expect(format({ description: '1. Opened /cart\n', capture })).toBe(`# WEB-7: Total is NaN

https://box.example/tickets/WEB-7

1. Opened /cart

## Errors

\`\`\`text
TypeError: nothing (3 times)
    at a (src/cart.ts:12:3)
    at a (main.js:1:900)
\`\`\`

\`\`\`\`text
refused \`\`\`
\`\`\`\`

## Failed requests

- POST /api/pay: 500 (2 times)
- GET /api/cart: no response

## Environment

- Page: https://shop.example/cart
- Browser: Linux, 800×600, release shop@1
- Captured: 2026-11-24T08:00:00Z
- Recording: The replay is incomplete.
`);
});

test('a ticket without a capture has only its text', () => {
  expect(format({ description: '', capture: null })).toBe(
    '# WEB-7: Total is NaN\n\nhttps://box.example/tickets/WEB-7\n',
  );
});
