/** Redaction of a whole capture before anything of it is stored or shown (docs/use/captures.md, "Redaction"). */
import type { Counts, NetworkEntry, Streams, Told } from '../shapes';
import { REMOVED_HEADERS, showsHeader } from './names';
import { Scrubber } from './scrub';
import { REDACTED } from './values';

const LINE = 4_096;
const URL_LENGTH = 65_536;

/** Takes secrets out of one capture and counts them; entries are changed in place. `extra`: the project's own rules. */
export class Redactor {
  readonly counts: Counts = { headers: 0, query: 0, keys: 0, patterns: 0, extra: 0 };
  readonly #scrubber: Scrubber;
  readonly #clean = new Set<string>();

  constructor(extra: readonly string[] = []) {
    this.#scrubber = new Scrubber(extra);
  }

  text(text: string, limit = 262_144): string {
    if (this.#clean.has(text)) return text;
    const clean = this.#scrubber.scrub(text, this.counts);
    if (clean === text && text.length <= 512 && this.#clean.size < 10_000) this.#clean.add(text);
    return clean.slice(0, limit);
  }

  page(page: Told['page']): Told['page'] {
    return {
      url: this.text(page.url, URL_LENGTH),
      title: this.text(page.title, LINE),
      referrer: this.#maybe(page.referrer, URL_LENGTH),
    };
  }

  streams({ console, network, errors }: Streams): void {
    for (const each of console) {
      each.args = each.args.map((arg) => this.text(arg));
      each.stack = this.#maybe(each.stack);
      each.source = this.#maybe(each.source, URL_LENGTH);
      each.frame = this.#maybe(each.frame, URL_LENGTH);
    }
    for (const each of network) this.#request(each);
    for (const each of errors) {
      each.name = this.text(each.name ?? '', LINE);
      each.message = this.text(each.message);
      each.stack = this.#maybe(each.stack);
      each.source = this.#maybe(each.source, URL_LENGTH);
      each.frame = this.#maybe(each.frame, URL_LENGTH);
      for (const frame of each.frames ?? []) {
        frame.url = this.text(frame.url, URL_LENGTH);
        frame.function = this.#maybe(frame.function, LINE);
      }
    }
  }

  #request(entry: NetworkEntry): void {
    entry.url = this.text(entry.url, URL_LENGTH);
    entry.method = this.text(entry.method, 32);
    entry.status_text = this.text(entry.status_text ?? '', LINE);
    entry.initiator = this.#maybe(entry.initiator, URL_LENGTH);
    entry.error = this.#maybe(entry.error, LINE);
    entry.frame = this.#maybe(entry.frame, URL_LENGTH);
    for (const side of [entry.request, entry.response]) {
      if (!side) continue;
      side.headers = this.#headers(side.headers ?? {});
      side.body = this.#maybe(side.body, 65_536);
    }
    if (entry.response) entry.response.mime = this.#maybe(entry.response.mime, LINE);
  }

  #headers(headers: { [name: string]: string }): { [name: string]: string } {
    const kept: { [name: string]: string } = {};
    for (const [name, value] of Object.entries(headers)) {
      const known = name.trim().toLowerCase();
      if (REMOVED_HEADERS.has(known)) this.counts.headers += 1;
      else if (showsHeader(known)) kept[this.text(name, 256)] = this.text(value, 16_384);
      else {
        if (value !== '' && value !== REDACTED) this.counts.headers += 1;
        kept[this.text(name, 256)] = value && REDACTED;
      }
    }
    return kept;
  }

  #maybe(text: string | null | undefined, limit?: number): string | null {
    return text == null ? null : this.text(text, limit);
  }
}
