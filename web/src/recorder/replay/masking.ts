/** What a replay never shows: what was entered, and what the page marks as private. */

const MAX_MASK = 10;
/** What holds entered text without being a field. `:read-write` also matches documents in design mode. */
const EDITORS = [
  ':read-write',
  '[contenteditable]:not([contenteditable=false])',
  '[role=textbox]',
  '[role=searchbox]',
  '[role=combobox]',
  '.cm-content',
  '.cm-editor',
  '.monaco-editor',
  '.CodeMirror',
  '.ace_editor',
].join(', ');
/** All fields, hidden ones too; the labels of buttons stay. */
const FIELDS = { input: true, textarea: true, select: true, password: true };

/** Mask a text; the mask reveals its length only up to 10 characters. */
export function maskText(text: string): string {
  return text.trim() ? '*'.repeat(Math.min(text.length, MAX_MASK)) : text;
}

/** How rrweb writes what a page shows; with `blockSelector`, the private parts. */
export const SNAPSHOT_OPTIONS = {
  maskInputOptions: FIELDS as object,
  maskInputFn: maskText,
  maskTextSelector: EDITORS,
  maskTextFn: maskText,
  inlineStylesheet: true,
  inlineImages: false,
  recordCanvas: false,
  collectFonts: false,
  slimDOMOptions: 'all',
} as const;

const LARGE_DATA = /data:[\w.+-]+\/[\w.+-]+[;,][^"'\\\s)]{1000,}/g;

/** Remove pictures, fonts and media from an encoded event: a replay doesn't show them. */
export function removeMedia(event: string): string {
  return event.length > 1_000 && event.includes('data:') ? event.replace(LARGE_DATA, 'data:,') : event;
}
