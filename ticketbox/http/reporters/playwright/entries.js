/** Entries of captures: their limits, and their order. */

export const STREAMS = { console: 'console', network: 'network', errors: 'errors', actions: 'actions' };

const MAX_ENTRIES = 5_000;
const TEXT = 100_000;
const BODY = 16_384;

/** Cut a text. */
export function clip(text, limit = TEXT) {
  return text.length > limit ? text.slice(0, limit) : text;
}

/** Remove the colours of a terminal from a text. */
export function plain(text) {
  return text.replace(/\u001b\[[0-9;]*m/g, '');
}

/** Put the arguments of a console call into the placeholders of its first, as a console does. */
export function formatArguments([first, ...rest]) {
  if (rest.length === 0) return [first];
  const text = first.replace(/%([sdifoOc%])/g, (placeholder, kind) => {
    if (kind === '%') return '%';
    if (rest.length === 0) return placeholder;
    const value = rest.shift();
    return kind === 'c' ? '' : value;
  });
  return [text, ...rest];
}

/** Cut a body; says whether something is missing. */
export function clipBody(text) {
  return { body: text.slice(0, BODY), omitted_reason: text.length > BODY ? 'limit' : null };
}

/** The class of a typed text's length; the text itself is never kept. */
export function classify(value) {
  if (!value) return 'empty';
  if (value.length <= 10) return 'text 1–10';
  if (value.length <= 50) return 'text 11–50';
  return value.length <= 200 ? 'text 51–200' : 'text 200+';
}

/** Put the streams in order of time, keep their newest entries, number them, and say how complete they are. */
export function finishStreams(recording) {
  const streams = {};
  const health = {};
  for (const name of Object.values(STREAMS)) {
    const sorted = [...recording[name]].sort((one, other) => one.ts - other.ts);
    streams[name] = sorted.slice(-MAX_ENTRIES);
    const captured = streams[name].length;
    const dropped = sorted.length - captured;
    if (!recording.recorded.includes(name)) health[name] = { status: 'disabled' };
    else if (dropped) health[name] = { status: 'partial', reason: 'limit', captured, dropped };
    else health[name] = { status: 'ok', captured };
  }
  const everything = Object.values(streams).flat();
  everything.sort((one, other) => one.ts - other.ts);
  everything.forEach((entry, index) => {
    if ('method' in entry) entry.id = `r${index}`;
    else entry.seq = index;
  });
  return { streams, health };
}
