import { describe, expect, test } from 'vitest';
import { describeError, Problem } from '../../src/app/core/server/problem';

describe('Problem', () => {
  test('has the details of a problem document', async () => {
    const document = {
      status: 400,
      code: 'invalid_request',
      detail: 'priority takes none, low',
      errors: [{ field: 'q', message: 'unknown priority' }],
      at: { start: 5, end: 9 },
    };
    const problem = await Problem.fromResponse(new Response(JSON.stringify(document), { status: 400 }));
    expect(problem).toMatchObject({ status: 400, code: 'invalid_request', message: document.detail });
    expect(problem.fieldError('q')).toBe('unknown priority');
    expect(problem.fieldError('limit')).toBeUndefined();
    expect(problem.span).toEqual({ start: 5, end: 9 });
  });

  test('describes a response that is no problem document by its status', async () => {
    const problem = await Problem.fromResponse(new Response('<html>Bad gateway', { status: 502 }));
    expect(problem).toMatchObject({ status: 502, code: 'unknown', message: 'The server returned 502.' });
  });

  test('moves its message to a field', () => {
    const problem = new Problem(409, 'conflict', 'the address is in use').forField('email');
    expect(problem.fieldError('email')).toBe('the address is in use');
    expect(problem).toMatchObject({ status: 409, code: 'conflict' });
  });
});

test.each([
  [new Error('the title is too long'), 'The title is too long.'],
  [new Error('Really?'), 'Really?'],
  ['no connection', 'No connection.'],
])('describeError(%s)', (error, sentence) => {
  expect(describeError(error)).toBe(sentence);
});
