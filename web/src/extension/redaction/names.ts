/** Names whose values are secret; the server's ticketbox/domain/captures/redaction/secret_names.py, rule for rule. */
const words = (text: string) => text.trim().split(/\s+/);

const CONTAINS = words(
  `password passwd passphrase passcode secret apikey accesskey privatekey authorization credential
  sessionid sessid sessiontoken csrf xsrf jwt creditcard cardnumber ccnumber cardno securitycode cvv
  socialsecurity samlresponse assertion setcookie`,
);
const LAST = new Set(
  words(
    `token tokens session auth pwd pw pass cookie cookies otp totp pin ssn sid sig signature card cvc cvn
    cred creds verifier`,
  ),
);
const ASKED = new Set(words('key code'));
const WORDS = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;

/** Every secret name holds one of these, so a search for them finds all candidates. */
export const STEMS =
  'p(?:ass|w|in)|s(?:ecret|ess|sn|i[dg]|aml|ocial)|to(?:ken|tp)|key|a(?:uth|pi[ _-]?key|ssertion)|verifier' +
  '|c(?:red|srf|ard|cn|v[vcn]|o(?:okie|de))|xsrf|jwt|otp';

export const REMOVED_HEADERS = new Set(
  words('cookie set-cookie cookie2 set-cookie2 authorization proxy-authorization x-authorization'),
);
const SHOWN_HEADERS = new Set(
  words(
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
const SHOWN_FAMILIES = words(
  'accept- access-control- content- cross-origin- if- ratelimit sec-ch- sec-fetch- x-ratelimit-',
);

/** Whether a header's value is harmless by its lower-case name; all others are blanked. */
export function showsHeader(name: string): boolean {
  return SHOWN_HEADERS.has(name) || SHOWN_FAMILIES.some((family) => name.startsWith(family));
}

/** A name without case and separators: `Customer-Ref`, `customerRef` and `customer_ref` are one. */
export function compact(name: string): string {
  return name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();
}

/** Whether a key's name says that its value is secret; `asked` means a query parameter. */
export function isSecretKey(key: string, asked: boolean): boolean {
  const parts = [...key.matchAll(WORDS)].map(([part]) => part.toLowerCase());
  const whole = parts.join('');
  if (CONTAINS.some((part) => whole.includes(part))) return true;
  while (parts.length > 1 && (/^\d+$/.test(parts.at(-1)!) || parts.at(-1) === 'value')) parts.pop();
  return parts.length > 0 && (LAST.has(parts.at(-1)!) || (asked && ASKED.has(whole)));
}
