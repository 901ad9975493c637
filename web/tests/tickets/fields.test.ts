import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EDITS, FIELDS } from '../../src/app/tickets/fields';

const { components } = JSON.parse(readFileSync('../docs/reference/openapi.json', 'utf8')) as {
  components: { schemas: Record<string, { enum: string[] }> };
};

test('the app shows the fields that the server lists for views', () => {
  expect(Object.keys(FIELDS).toSorted()).toEqual(components.schemas.ViewField!.enum.toSorted());
});

test('columns sort by orders of the server', () => {
  const orders = Object.values(FIELDS).flatMap(({ column }) => column?.sort ?? []);
  for (const order of orders) expect(components.schemas.Sort!.enum).toContain(`-${order}`);
});

test('every property that is changed by choosing has a separate key', () => {
  expect(new Set(EDITS.map(({ key }) => key)).size).toBe(EDITS.length);
});
