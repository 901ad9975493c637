/** Where the reporter's script came from, and where its reports go. */
export class ReportAddress {
  readonly panel: string;
  readonly intake: string;
  readonly #script: string;

  constructor(script: string, key: string) {
    this.#script = new URL(script).href;
    this.panel = new URL('reporter-panel.js', script).href;
    this.intake = new URL(`api/v1/reports/${encodeURIComponent(key)}`, script).href;
  }

  /** Whether a request is the reporter's, not the page's. */
  isOwn(url: string): boolean {
    return url === this.#script || url === this.panel || url === this.intake;
  }
}
