import type { Plugin } from 'vite';

const INLINE = 'old.setAttribute("style", m.oldValue)';
const BY_PROPERTY = 'old.style.cssText = m.oldValue';

/**
 * Let rrweb read the former style of an element without writing a style attribute: a page's policy can forbid those,
 * and each would be a violation that the page reports (https://www.w3.org/TR/CSP3/#directive-style-src-attr).
 */
export function keepStylePolicy(): Plugin {
  return {
    name: 'keep-style-policy',
    transform(code, id) {
      if (!/@rrweb\/record\/dist\/record\.js$/.test(id)) return null;
      if (code.split(INLINE).length !== 2) this.error('@rrweb/record no longer compares styles as it did');
      return { code: code.replace(INLINE, BY_PROPERTY), map: null };
    },
  };
}
