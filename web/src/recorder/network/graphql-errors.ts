/** Answers of GraphQL with status 200 that have `errors`, which are failures (GraphQL specification, "Response"). */
const MARK = 'GraphQL errors';
const IS_JSON = /^\s*(?:\[\s*)?\{/;
const NAMED = /^[\s,]*(?:query|mutation|subscription)\s+([A-Za-z_]\w{0,79})/;

/** What failed, with the name of the operation; null if the answer has no errors, or belongs to no GraphQL request. */
export function describeGraphqlErrors(
  url: string,
  sent: string | null,
  answer: string | null,
): string | null {
  if (!answer?.includes('"errors"') || !IS_JSON.test(answer)) return null;
  const operations = readOperations(sent);
  const isGraphql = operations.length > 0 || /\/graphql\/?(?:[?#]|$)/i.test(url);
  if (!isGraphql || !hasErrors(answer)) return null;
  const names = operations.map(nameOperation).filter((name) => name !== null);
  return names.length > 0 ? `${MARK} (${names.join(', ').slice(0, 200)})` : MARK;
}

/** Whether a request has no response, a status of failures, or errors in its answer. */
export function hasFailed({ status, error }: { status: number | null; error?: string | null }): boolean {
  return status === null ? Boolean(error) : status >= 400 || Boolean(error?.startsWith(MARK));
}

type Fields = { [name: string]: unknown };

/** The operations of a request: one, or a batch. */
function readOperations(sent: string | null): Fields[] {
  if (!sent || !/^\s*[[{]/.test(sent)) return [];
  return listObjects(parse(sent)).filter(
    ({ query, operationName, extensions }) =>
      (typeof query === 'string' && query.includes('{')) || (operationName && extensions),
  );
}

function nameOperation({ operationName, query }: Fields): string | null {
  if (typeof operationName === 'string') return operationName;
  return (typeof query === 'string' && NAMED.exec(query)?.[1]) || null;
}

function hasErrors(answer: string): boolean {
  const parsed = parse(answer);
  if (parsed === undefined) return /^\s*(?:\[\s*)?\{\s*"errors"\s*:\s*\[\s*\{/.test(answer); // it was cut
  return listObjects(parsed).some(({ errors }) => Array.isArray(errors) && errors.length > 0);
}

function listObjects(value: unknown): Fields[] {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.filter((each): each is Fields => typeof each === 'object' && each !== null);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
