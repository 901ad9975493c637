import { apply, now, wrap } from '../natives/natives';
import { attempt } from '../natives/restore-natives';
import { createShortError } from '../stack-trace';
import { isTextType, omitBody, readRequestBody, truncateBody } from './bodies';
import { captureAddress, ScriptRequest, type RequestAddress, type RequestLog } from './requests';

const MAX_HEADERS_LENGTH = 65_536;

interface OpenedRequest {
  method: string;
  url: RequestAddress;
  headers: Record<string, string>;
}

/** Start recording XMLHttpRequest. */
export function recordXhr(log: RequestLog): void {
  const openedRequests = new WeakMap<XMLHttpRequest, OpenedRequest>();
  const sentRequests = new WeakMap<EventTarget, ScriptRequest>();
  const prototype = XMLHttpRequest.prototype;
  const addListener = EventTarget.prototype.addEventListener;
  // one listener for all requests, so that a request that is sent twice has it only once
  const onEvent = ({ type, currentTarget: xhr }: Event) => {
    const request = sentRequests.get(xhr!);
    if (!request) return;
    if (type === 'loadend') addResponse(request, xhr as XMLHttpRequest, log.recordsBodies);
    else request.fail(type === 'error' ? 'the request failed' : type);
  };

  wrap(prototype, 'open', (original) => ({
    call(this: XMLHttpRequest, ...args: unknown[]) {
      const result = apply(original, this, args as never);
      attempt(() => {
        const [method, url] = [String(args[0]).toUpperCase(), captureAddress(args[1])];
        const headers = Object.create(null) as Record<string, string>; // a name can be `constructor`
        openedRequests.set(this, { method, url, headers });
      });
      return result;
    },
  }));
  wrap(prototype, 'setRequestHeader', (original) => ({
    call(this: XMLHttpRequest, ...args: unknown[]) {
      const result = apply(original, this, args as never);
      attempt(() => {
        const headers = openedRequests.get(this)?.headers;
        const name = String(args[0]).toLowerCase();
        if (headers)
          headers[name] = (name in headers ? `${headers[name]}, ` : '') + String(args[1]).slice(0, 8_192);
      });
      return result;
    },
  }));
  wrap(prototype, 'send', (original) => ({
    call(this: XMLHttpRequest, ...args: unknown[]) {
      const opened = openedRequests.get(this);
      if (opened) {
        try {
          const { method, url, headers } = opened;
          const body = readRequestBody(args[0], log.recordsBodies);
          const request = new ScriptRequest('xhr', method, url, headers, body, createShortError());
          log.add(request);
          sentRequests.set(this, request);
          for (const type of ['error', 'timeout', 'abort', 'loadend'])
            apply(addListener, this, [type, onEvent]);
        } catch {
          // the page's call must succeed
        }
      }
      return apply(original, this, args as never);
    },
  }));
}

function addResponse(request: ScriptRequest, xhr: XMLHttpRequest, recordsBodies: boolean): void {
  request.endedAt ??= now();
  if (!xhr.status) return request.fail('the request failed');
  request.status = xhr.status;
  request.statusText = xhr.statusText;
  request.responseHeaders = xhr.getAllResponseHeaders().slice(0, MAX_HEADERS_LENGTH);
  if (!recordsBodies) request.responseBody = omitBody('policy');
  else if (!isTextType(xhr.getResponseHeader('content-type') ?? undefined))
    request.responseBody = omitBody('binary');
  else if (xhr.responseType === '' || xhr.responseType === 'text')
    request.responseBody = truncateBody(xhr.responseText);
  else if (xhr.responseType === 'json')
    request.responseBody = truncateBody(JSON.stringify(xhr.response) ?? '');
  else if (xhr.responseType === 'arraybuffer' && xhr.response)
    request.responseBody = truncateBody(new TextDecoder().decode(xhr.response as ArrayBuffer));
  else request.responseBody = omitBody('unavailable');
}
