import { apply, method, now, wrap } from './natives';
import { cut, isTextual, Kept, relative, sent, without, type Requests } from './requests';
import { brief } from './stack';

interface Opened {
  how: string;
  url: Kept['url'];
  headers: Record<string, string>;
}

/** Listen to XMLHttpRequest. */
export function listenToXhr(requests: Requests): void {
  const opened = new WeakMap<XMLHttpRequest, Opened>();
  const prototype = XMLHttpRequest.prototype;
  const listen = EventTarget.prototype.addEventListener;

  wrap(prototype, 'open', (original) =>
    method(function (this: XMLHttpRequest, ...given: unknown[]) {
      const result = apply(original, this, given as never);
      opened.set(this, { how: String(given[0]).toUpperCase(), url: relative(given[1]), headers: {} });
      return result;
    }),
  );
  wrap(prototype, 'setRequestHeader', (original) =>
    method(function (this: XMLHttpRequest, ...given: unknown[]) {
      const result = apply(original, this, given as never);
      const headers = opened.get(this)?.headers;
      const name = String(given[0]).toLowerCase();
      if (headers)
        headers[name] = (name in headers ? `${headers[name]}, ` : '') + String(given[1]).slice(0, 8_192);
      return result;
    }),
  );
  wrap(prototype, 'send', (original) =>
    method(function (this: XMLHttpRequest, ...given: unknown[]) {
      const begun = opened.get(this);
      if (begun) {
        try {
          const body = sent(given[0], requests.bodies);
          const kept = new Kept('xhr', begun.how, begun.url, begun.headers, body, brief());
          requests.add(kept);
          for (const kind of ['error', 'timeout', 'abort'])
            apply(listen, this, [
              kind,
              () => kept.fail(kind === 'error' ? 'the request failed' : kind),
              { once: true },
            ]);
          apply(listen, this, ['loadend', () => ended(kept, this, requests.bodies), { once: true }]);
        } catch {
          // the page's call goes on
        }
      }
      return apply(original, this, given as never);
    }),
  );
}

function ended(kept: Kept, xhr: XMLHttpRequest, bodies: boolean): void {
  kept.ended ??= now();
  if (!xhr.status) return kept.fail('the request failed');
  kept.status = xhr.status;
  kept.statusText = xhr.statusText;
  const headers: Record<string, string> = {};
  for (const line of xhr.getAllResponseHeaders().trim().split('\r\n').slice(0, 100)) {
    const colon = line.indexOf(':');
    if (colon > 0)
      headers[line.slice(0, colon).toLowerCase()] = line
        .slice(colon + 1)
        .trim()
        .slice(0, 8_192);
  }
  kept.answerHeaders = headers;
  if (!bodies) kept.answerBody = without('policy');
  else if (!isTextual(headers['content-type'])) kept.answerBody = without('binary');
  else if (xhr.responseType === '' || xhr.responseType === 'text') kept.answerBody = cut(xhr.responseText);
  else kept.answerBody = without('unavailable');
}
