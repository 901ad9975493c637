import { expect, test } from 'vitest';
import type { Expectation } from '../../src/recorder/capture-types';
import { describeExpectation } from '../../src/recorder/pointing/expectation';
import examples from '../../../tests/domain/captures/expectations.json';

test.each(examples as [object, string][])('%j is described as the server describes it', (sent, words) => {
  expect(describeExpectation(sent as Expectation)).toBe(words);
});
