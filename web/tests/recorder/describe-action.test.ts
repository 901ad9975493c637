import { expect, test } from 'vitest';
import { describeAction } from '../../src/recorder/actions/describe-action';
import type { ActionEntry } from '../../src/recorder/capture-types';
import examples from '../../../tests/domain/captures/steps.json';

test.each(examples as [object, string][])('%j is described as the server describes it', (fields, words) => {
  expect(describeAction({ seq: 1, ts: 1, ...fields } as unknown as ActionEntry)).toBe(words);
});
