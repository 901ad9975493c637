import { expect, test } from 'vitest';
import { formatError } from '../../src/shared/error-text';
import cases from '../../../tests/domain/captures/error_texts.json';

test.each(cases as [string, string, string][])('%j with %j is %j', (name, message, text) => {
  expect(formatError({ name, message })).toBe(text);
});
