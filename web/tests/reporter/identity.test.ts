import { expect, test } from 'vitest';
import { readIdentity } from '../../src/reporter/identity';

const sign = (claims: unknown) => `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.y`;

test.each([
  [{ sub: '4711', name: 'Zoë Ÿ÷ÿ', email: 'zoe@example.org' }, 'Zoë Ÿ÷ÿ, zoe@example.org'],
  [{ sub: '4711', email: 'zoe@example.org' }, 'zoe@example.org'],
  [{ sub: '4711', name: ' ' }, '4711'],
  [{ sub: '4711', name: ['Ann'] }, '4711'],
])('shows who the person is: %j', (claims, shown) => {
  const token = sign(claims);
  expect(readIdentity(token)).toEqual({ token, shown });
});

test.each([undefined, '', 'x', 'x.y.z', 'x.!.z', sign(null), sign([]), sign({ name: 'Ann' })])(
  'shows nothing of what is no identity: %s',
  (token) => expect(readIdentity(token)).toBeNull(),
);
