/** How the two scripts of the reporter find each other: the small one that records, and the panel, loaded when opened. */
import type { FrameReport } from '../recorder/capture-types';
import type { ReportSettings } from './load-settings';
import type { ReportAddress } from './report-address';

export interface Embedding {
  address: ReportAddress;
  /** Where the panel is put, and the style sheets around it. */
  root: HTMLElement;
  shadow: ShadowRoot;
  /** Read what was recorded, not redacted, without names of what the project hides; null if the page prevents it. */
  readFrame: (settings: ReportSettings) => FrameReport | null;
  /** Read the identity that the page's server signed, as it is now. */
  readToken: () => string | undefined;
  /** An empty document for a frame: text, or an object that the page's policy accepts in its place. */
  emptyDocument: () => string;
}

interface Reporter {
  /** Set by the panel's script. Returns a function that opens the panel. */
  mountPanel?: (embedding: Embedding) => () => void;
}

const REPORTER = Symbol.for('ticketbox reporter');

/** The reporter of this page; null if its first script didn't run. */
export function findReporter(): Reporter | null {
  return (globalThis as { [REPORTER]?: Reporter })[REPORTER] ?? null;
}

export function createReporter(): Reporter {
  return ((globalThis as { [REPORTER]?: Reporter })[REPORTER] = {});
}

/** Add a style sheet of a kind that isn't subject to the page's policy. */
export function addStyles(shadow: ShadowRoot, text: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  shadow.adoptedStyleSheets = [...shadow.adoptedStyleSheets, sheet];
}
