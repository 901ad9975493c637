/** The names whose values are secret. tests/extension/test_redaction.py compares these rules with the server's. */
const splitWords = (text: string) => text.trim().split(/\s+/);

const SECRET_PARTS = splitWords(
  `password passwd passphrase passcode secret apikey accesskey privatekey authorization credential
  sessionid sessid sessiontoken csrf xsrf jwt creditcard cardnumber ccnumber cardno securitycode cvv
  socialsecurity samlresponse assertion setcookie`,
);
const SECRET_LAST_WORDS = new Set(
  splitWords(
    `token tokens session auth pwd pw pass cookie cookies otp totp pin ssn sid sig signature card cvc cvn
    cred creds verifier`,
  ),
);
const SECRET_PARAMETERS = new Set(splitWords('key code'));
const WORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;

/** Every secret name contains one of these, so a search for them finds all candidates. */
export const STEMS =
  'p(?:ass|w|in)|s(?:ecret|ess|sn|i[dg]|aml|ocial)|to(?:ken|tp)|key|a(?:uth|pi[ _-]?key|ssertion)|verifier' +
  '|c(?:red|srf|ard|cn|v[vcn]|o(?:okie|de))|xsrf|jwt|otp';

export const REMOVED_HEADERS = new Set(
  splitWords('cookie set-cookie cookie2 set-cookie2 authorization proxy-authorization x-authorization'),
);
const SAFE_HEADERS = new Set(
  splitWords(
    `accept age allow alt-svc cache-control connection date dnt etag expect expect-ct expires host
    keep-alive last-modified link location nel origin origin-agent-cluster permissions-policy pragma
    priority proxy-authenticate range referer referrer-policy report-to reporting-endpoints retry-after
    server server-timing sourcemap strict-transport-security te timing-allow-origin traceparent trailer
    transfer-encoding upgrade upgrade-insecure-requests user-agent vary via warning www-authenticate
    cf-cache-status cf-ray x-amz-cf-id x-amz-cf-pop x-amzn-requestid x-amzn-trace-id x-cache
    x-content-type-options x-correlation-id x-dns-prefetch-control x-frame-options x-powered-by
    x-request-id x-requested-with x-response-time x-robots-tag x-runtime x-sourcemap x-trace-id
    x-xss-protection`,
  ),
);
const SAFE_HEADER_PREFIXES = splitWords(
  'accept- access-control- content- cross-origin- if- ratelimit sec-ch- sec-fetch- x-ratelimit-',
);

/** Whether a header's value may be kept, by its lower-case name. All other values are redacted. */
export function isSafeHeader(name: string): boolean {
  return SAFE_HEADERS.has(name) || SAFE_HEADER_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** A name in lower case without separators: `Customer-Ref`, `customerRef` and `customer_ref` become the same. */
export function normalizeName(name: string): string {
  return name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();
}

/** Whether a value is secret, by the name of its key. `isParameter`: the key is that of a query parameter. */
export function isSecretKey(key: string, isParameter: boolean): boolean {
  const words = [...key.matchAll(WORD)].map(([word]) => word.toLowerCase());
  const name = words.join('');
  if (SECRET_PARTS.some((part) => name.includes(part))) return true;
  while (words.length > 1 && (/^\d+$/.test(words.at(-1)!) || words.at(-1) === 'value')) words.pop();
  return (
    words.length > 0 && (SECRET_LAST_WORDS.has(words.at(-1)!) || (isParameter && SECRET_PARAMETERS.has(name)))
  );
}
