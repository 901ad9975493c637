import { expect, test } from 'vitest';
import { StorageShaper } from '../../src/recorder/redaction/storage-shape';
import examples from '../../../tests/domain/captures/stored_values.json';

test.each(examples.cases as [string, string, string][])('%s: %s', (name, value, standIn) => {
  expect(new StorageShaper(examples.captured_at).shape(name, value)).toBe(standIn);
});

test('what a rule of the project names is never recorded', () => {
  const shaper = new StorageShaper(0, ['text:acme', 'customerRef']);
  expect(shaper.shape('tenant', 'acme')).toBeNull();
  expect(shaper.shape('customer_ref', 'open')).toBeNull();
  expect(shaper.shape('view', '{"customerRef":"open"}')).toBeNull();
  expect(shaper.shape('view', 'open')).toBe('open');
});
