// @ts-check
/**
 * Keeps a run inside the application: every request of the browser, of popups, workers and redirects too, is checked
 * before it is sent. What a capture holds is text of others, so no address is built from it without a check.
 */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** What other sites may add to a page, and what never tells them anything but that it was loaded. */
const PARTS = new Set(['Script', 'Stylesheet', 'Font', 'Image']);
const CREDENTIALS = /^(?:cookie|authorization|proxy-authorization)$/i;
const PATH = /^(\/(?![\\/])[^?#\\]*)(\?[^#]*)?(#.*)?$/s;
const LOCAL_NAME = /(?:^|\.)(?:localhost|local)\.?$/i;
/** Addresses of this machine and of private networks. */
const LOCAL = new BlockList();
for (const range of [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.168.0.0/16', '224.0.0.0/3', '::/127', '64:ff9b::/96', 'fc00::/7', 'fe80::/10', 'ff00::/8'],
]) {
  const [address = '', length] = range.split('/');
  LOCAL.addSubnet(address, Number(length), isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/**
 * The address of a path in the application. Throws if the text isn't a path: `//host` and `/\host` name another host.
 * @param {string} path @param {string} base
 */
export function buildAddress(path, base) {
  const [, pathname, search = '', hash = ''] = PATH.exec(path) ?? [];
  const address = new URL(base);
  if (pathname) Object.assign(address, { pathname, search, hash });
  if (!pathname || address.pathname.startsWith('//'))
    throw new Error(`${JSON.stringify(path)} isn't a path of the application`);
  return address;
}

/**
 * Refuse what leaves the application. Other sites may only add parts of a page, without credentials; `offline`: nothing.
 * @param {any} page Playwright's. @param {string} base @param {boolean} offline
 * @param {(error: unknown) => void} report Called with what goes wrong here.
 */
export async function confine(page, base, offline, report) {
  const { origin, hostname, host, protocol } = new URL(base);
  const browser = page.context().browser();
  if (browser?.browserType().name() !== 'chromium')
    throw new Error(
      'A reproduction runs in Chromium only: nothing keeps other browsers inside the application.',
    );
  const session = await browser.newBrowserCDPSession();
  let isOpen = true;
  page.context().on('close', () => {
    isOpen = false;
    session.detach().catch(() => {}); // it ends with the browser anyway
  });
  // sockets don't pass here, so documents and workers get a policy; `fetch` to others is answered from the recording
  const policy = `connect-src http: https: data: blob: ${protocol.replace('http', 'ws')}//${host}`;
  await page.context().addInitScript(addPolicy, policy);
  /** @type {Map<string, Promise<boolean>>} */
  const known = new Map();

  /** Whether a host is on the internet. @param {string} name */
  const isPublic = (name) => {
    const found = known.get(name) ?? resolve(name);
    known.set(name, found);
    return found;
  };

  /** @param {any} paused */
  const check = async ({ requestId, request, resourceType, responseStatusCode: responseCode, ...answer }) => {
    if (responseCode !== undefined) {
      const header = { name: 'content-security-policy', value: policy };
      const responseHeaders = [...(answer.responseHeaders ?? []), header];
      return session.send('Fetch.continueResponse', { requestId, responseCode, responseHeaders });
    }
    if (answer.responseErrorReason)
      return session.send('Fetch.failRequest', { requestId, errorReason: answer.responseErrorReason });
    const url = new URL(request.url);
    if (url.origin === origin || url.protocol === 'data:') {
      const isCode = resourceType === 'Script' || resourceType === 'Other'; // of a worker, perhaps
      return session.send('Fetch.continueRequest', { requestId, interceptResponse: isCode });
    }
    const isPart =
      !offline && request.method === 'GET' && PARTS.has(resourceType) && /^https?:$/.test(url.protocol);
    if (!isPart || url.hostname === hostname || !(await isPublic(url.hostname)))
      return session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
    const kept = Object.entries(request.headers).filter(([name]) => !CREDENTIALS.test(name));
    const headers = [...kept, ['Cookie', '']].map(([name, value]) => ({ name, value }));
    return session.send('Fetch.continueRequest', { requestId, headers });
  };
  session.on('Fetch.requestPaused', (/** @type {any} */ paused) =>
    check(paused).catch((error) => {
      // the page may have left, which ends its requests
      if (!isOpen || /Invalid InterceptionId|has been closed/.test(String(error))) return;
      report(error);
      session
        .send('Fetch.failRequest', { requestId: paused.requestId, errorReason: 'Failed' })
        .catch(() => {});
    }),
  );
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
}

/** Whether all addresses of a host are public. A name that is unknown here leads to nothing local. @param {string} name */
async function resolve(name) {
  const host = name.replace(/^\[|\]$/g, '');
  if (LOCAL_NAME.test(host)) return false;
  const found = isIP(host) ? [{ address: host }] : await lookup(host, { all: true }).catch(() => []);
  return found.every(({ address }) => !LOCAL.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'));
}

/**
 * Add a content security policy to a document, before its first script runs.
 * @param {string} policy
 */
function addPolicy(policy) {
  const add = () => {
    if (!document.head) return;
    observer.disconnect();
    const meta = document.createElement('meta');
    Object.assign(meta, { httpEquiv: 'content-security-policy', content: policy });
    document.head.prepend(meta);
    meta.remove(); // the policy stays
  };
  const observer = new MutationObserver(add);
  observer.observe(document, { childList: true, subtree: true });
  add();
}
