/** Converts values of the DevTools protocol into those of a capture. */
import type { Frame } from '../../recorder/capture-types';
import type { RemoteObject, StackTrace } from './devtools-protocol';

/** Convert headers. Cookies are dropped here, before they are stored anywhere. */
export function convertHeaders(headers: { [name: string]: string }): { [name: string]: string } {
  const allowed = Object.entries(headers).filter(([name]) => !/^(?:set-)?cookie2?$/i.test(name));
  return Object.fromEntries(
    allowed.slice(0, 100).map(([name, value]) => [name.toLowerCase(), value.slice(0, 8_192)]),
  );
}

/** Convert the frames of a stack; the protocol counts lines and columns from 0. */
export function convertFrames(stack: StackTrace | undefined): Frame[] {
  return (stack?.callFrames ?? []).slice(0, 50).map((each) => ({
    url: each.url,
    function: each.functionName || null,
    line: each.lineNumber + 1,
    column: each.columnNumber + 1,
  }));
}

/** Format a console argument as text. */
export function formatRemoteObject(object: RemoteObject): string {
  const { type, value, description, preview, unserializableValue } = object;
  if (typeof value === 'string') return value;
  if (preview?.properties.length) {
    const isArray = preview.subtype === 'array';
    const parts = preview.properties.map((each) =>
      isArray ? `${each.value}` : `${each.name}: ${each.value}`,
    );
    return isArray ? `[${parts.join(', ')}]` : `{${parts.join(', ')}}`;
  }
  return unserializableValue ?? description ?? (value === undefined ? type : JSON.stringify(value));
}
