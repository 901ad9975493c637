import { expect, test } from 'vitest';
import { describeGraphqlErrors, hasFailed } from '../../src/recorder/network/graphql-errors';

const API = 'https://shop.example/api';
const FAILED = '{"data": null, "errors": [{"message": "locked"}]}';
const save = JSON.stringify({ operationName: 'Save', query: 'mutation Save { saved }' });

test.each([
  [API, save, FAILED, 'GraphQL errors (Save)'],
  [API, '{"query": "query Find($id: ID) { find }"}', FAILED, 'GraphQL errors (Find)'],
  [API, '{"query": "{ me }"}', FAILED, 'GraphQL errors'],
  [API, `[${save}, {"query": "query Me { me }"}]`, `[${FAILED}, {"data": 1}]`, 'GraphQL errors (Save, Me)'],
  [API, save, `{"errors": [{"message": "the answer was cut`, 'GraphQL errors (Save)'],
  ['https://shop.example/graphql?query={me}', null, FAILED, 'GraphQL errors'],
  [API, save, '{"data": {"saved": true}, "errors": []}', null],
  [API, save, '{"data": {"errors": [1]}}', null],
  [API, save, '{"data": {}}', null],
  [API, save, null, null],
  [API, '{"query": "red lamp"}', FAILED, null], // a search
  ['https://shop.example/api/validate', '{}', FAILED, null],
  [API, 'not { json', '"errors"', null],
])('%s with %s answered %s', (url, sent, answer, error) => {
  expect(describeGraphqlErrors(url, sent, answer)).toBe(error);
});

test('a request failed without a response, with a status of failures, or with errors of GraphQL', () => {
  expect(hasFailed({ status: 200, error: 'GraphQL errors (Save)' })).toBe(true);
  expect(hasFailed({ status: 500 })).toBe(true);
  expect(hasFailed({ status: null, error: 'aborted' })).toBe(true);
  expect(hasFailed({ status: null })).toBe(false); // it goes on
  expect(hasFailed({ status: 200, error: 'the connection was lost' })).toBe(false); // an event stream
});
