/** Requests from the entries of a trace, which are those of HAR. */
import { clip, clipBody } from './entries.js';

const MAX_HEADERS = 200;
const TEXT_TYPE = /^text\/|(json|xml|javascript|x-www-form-urlencoded|graphql)$/i;

/** Build an entry of the stream `network`; null if it isn't possible. `read` reads a file of the trace. */
export function buildRequest({ startedDateTime, time, request, response, _resourceType }, read) {
  const ts = Date.parse(startedDateTime);
  if (!Number.isFinite(ts) || ts < 0 || !request?.url) return null;
  const status = response?.status >= 100 && response.status <= 599 ? response.status : null;
  const content = response?.content ?? {};
  return {
    id: '',
    ts,
    method: String(request.method || 'GET').slice(0, 32),
    url: clip(request.url, 65_536),
    status,
    type: _resourceType || 'other',
    duration_ms: time >= 0 ? time : null,
    request: {
      headers: readHeaders(request.headers),
      bytes: readSize(request.bodySize),
      ...readBody(request.postData, read),
    },
    response: {
      headers: readHeaders(response?.headers),
      bytes: readSize(content.size),
      mime: content.mimeType || null,
      ...(status === null ? {} : readBody(content, read)),
    },
    status_text: clip(response?.statusText ?? '', 4_096),
    error: status === null ? clip(response?._failureText ?? 'no response', 4_096) : null,
  };
}

function readHeaders(pairs = []) {
  const headers = Object.create(null); // a name can be `constructor`
  for (const { name, value } of pairs.slice(0, MAX_HEADERS)) {
    if (!name || name.startsWith(':')) continue;
    const key = name.slice(0, 256);
    headers[key] = (key in headers ? `${headers[key]}, ${value}` : value).slice(0, 16_384);
  }
  return headers;
}

function readSize(size) {
  return size >= 0 ? Math.floor(size) : null;
}

function readBody(part, read) {
  const file = part?._file ?? (part?._sha1 && `resources/${part._sha1}`);
  if (!part?.text && !file) return { body: null, omitted_reason: part?.size > 0 ? 'unavailable' : null };
  if (!TEXT_TYPE.test((part.mimeType ?? '').split(';')[0].trim()))
    return { body: null, omitted_reason: 'binary' };
  const data = part.text
    ? Buffer.from(part.text, part.encoding === 'base64' ? 'base64' : 'utf8')
    : read(file);
  return data ? clipBody(data.toString('utf8')) : { body: null, omitted_reason: 'unavailable' };
}
