/**
 * The style sheets of shadow roots, which apply only within their hosts. Components often share one large sheet, so each
 * is written once, for all hosts that have it.
 */
import { joinRules, type PageNode } from './page-model';

/** The attribute of a host, with the numbers of its style sheets. */
export const SHADOW_ATTRIBUTE = 'data-ticketbox-shadow';

export class ShadowStyles {
  /** The texts of sheets, with their numbers. */
  readonly #numbers = new Map<string, number>();
  readonly #texts = new Map<CSSStyleSheet, string>();
  readonly #hosts = new Map<PageNode, Set<number>>();

  /** Add a style sheet of a host's shadow root. */
  add(host: PageNode, sheet: CSSStyleSheet | string): void {
    const text = typeof sheet === 'string' ? sheet : this.#read(sheet);
    if (!text.trim()) return;
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    this.#numbers.set(text, number);
    const own = this.#hosts.get(host) ?? new Set();
    this.#hosts.set(host, own.add(number));
  }

  /** The value of a host's attribute; undefined for other elements. */
  nameSheets(host: PageNode): string | undefined {
    const own = this.#hosts.get(host);
    return own && [...own].join(' ');
  }

  /** All sheets as one. */
  join(): string {
    return [...this.#numbers]
      .map(([text, number]) => `@scope ([${SHADOW_ATTRIBUTE}~="${number}"]) { ${translate(text)} }`)
      .join('\n');
  }

  #read(sheet: CSSStyleSheet): string {
    const text = this.#texts.get(sheet) ?? joinRules(sheet);
    this.#texts.set(sheet, text);
    return text;
  }
}

function translate(text: string): string {
  return text
    .replace(/:host\(([^)]*)\)/g, ':scope:is($1)')
    .replace(/:host/g, ':scope')
    .replace(/::slotted\(([^)]*)\)/g, '$1');
}
