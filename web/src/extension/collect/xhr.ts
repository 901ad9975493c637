import { apply, now, wrap } from './natives';
import { cut, isTextual, Kept, relative, sent, without, type Requests } from './requests';
import { brief } from './stack';

const MOST_LETTERS = 65_536;

interface Opened {
  how: string;
  url: Kept['url'];
  headers: Record<string, string>;
}

/** Listen to XMLHttpRequest. */
export function listenToXhr(requests: Requests): void {
  const opened = new WeakMap<XMLHttpRequest, Opened>();
  const under = new WeakMap<EventTarget, Kept>();
  const prototype = XMLHttpRequest.prototype;
  const listen = EventTarget.prototype.addEventListener;
  // one function for all requests: a request that is sent again has it but once
  const hear = ({ type, currentTarget: xhr }: Event) => {
    const kept = under.get(xhr!);
    if (!kept) return;
    if (type === 'loadend') ended(kept, xhr as XMLHttpRequest, requests.bodies);
    else kept.fail(type === 'error' ? 'the request failed' : type);
  };

  wrap(prototype, 'open', (original) => ({
    call(this: XMLHttpRequest, ...given: unknown[]) {
      const result = apply(original, this, given as never);
      opened.set(this, { how: String(given[0]).toUpperCase(), url: relative(given[1]), headers: {} });
      return result;
    },
  }));
  wrap(prototype, 'setRequestHeader', (original) => ({
    call(this: XMLHttpRequest, ...given: unknown[]) {
      const result = apply(original, this, given as never);
      const headers = opened.get(this)?.headers;
      const name = String(given[0]).toLowerCase();
      if (headers)
        headers[name] = (name in headers ? `${headers[name]}, ` : '') + String(given[1]).slice(0, 8_192);
      return result;
    },
  }));
  wrap(prototype, 'send', (original) => ({
    call(this: XMLHttpRequest, ...given: unknown[]) {
      const begun = opened.get(this);
      if (begun) {
        try {
          const body = sent(given[0], requests.bodies);
          const kept = new Kept('xhr', begun.how, begun.url, begun.headers, body, brief());
          requests.add(kept);
          under.set(this, kept);
          for (const type of ['error', 'timeout', 'abort', 'loadend']) apply(listen, this, [type, hear]);
        } catch {
          // the page's call goes on
        }
      }
      return apply(original, this, given as never);
    },
  }));
}

function ended(kept: Kept, xhr: XMLHttpRequest, bodies: boolean): void {
  kept.ended ??= now();
  if (!xhr.status) return kept.fail('the request failed');
  kept.status = xhr.status;
  kept.statusText = xhr.statusText;
  kept.answerHeaders = xhr.getAllResponseHeaders().slice(0, MOST_LETTERS);
  if (!bodies) kept.answerBody = without('policy');
  else if (!isTextual(xhr.getResponseHeader('content-type') ?? undefined))
    kept.answerBody = without('binary');
  else if (xhr.responseType === '' || xhr.responseType === 'text') kept.answerBody = cut(xhr.responseText);
  else kept.answerBody = without('unavailable');
}
