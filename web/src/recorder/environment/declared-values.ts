/** Feature flags, releases and other values that a page declares in its global variables and meta elements. */
import type { Environment } from '../capture-types';

export type DeclaredValue = [name: string, value: string];

const RELEASE = '__release';
/** What is read of every page. */
export const DEFAULT_NAMES = [RELEASE, '__flags', 'meta:feature-flags'];
const MAX_VALUES = 50;
const MAX_LENGTH = 200;

/**
 * Read values in the page's JavaScript world: of global variables (`app.flags`; the members of an object, each by its
 * path) and of meta elements (`meta:build`). The extension injects this function, so it uses nothing outside itself.
 */
export function readDeclaredValues(names: string[]): DeclaredValue[] {
  const found: DeclaredValue[] = [];
  const format = (value: unknown): string | null => {
    if (Array.isArray(value)) return value.map(format).join(', ');
    return ['string', 'number', 'boolean'].includes(typeof value) ? String(value as string) : null;
  };
  const add = (name: string, read: () => unknown) => {
    try {
      const value = read();
      const text = format(value);
      if (text) found.push([name.slice(0, 200), text.slice(0, 200)]);
      return value;
    } catch {
      return null; // a getter of the page failed
    }
  };
  for (const name of names) {
    if (name.startsWith('meta:')) {
      const selector = `meta[name="${CSS.escape(name.slice(5))}"]`;
      add(name, () => document.querySelector<HTMLMetaElement>(selector)?.content);
      continue;
    }
    const value = add(name, () =>
      name.split('.').reduce<unknown>((owner, part) => (owner as { [part: string]: unknown })[part], window),
    );
    if (value === null || typeof value !== 'object' || Array.isArray(value)) continue;
    for (const member of Object.keys(value).slice(0, 50))
      add(`${name}.${member}`, () => (value as { [member: string]: unknown })[member]);
  }
  return found.slice(0, 50);
}

/** Add declared values to an environment. `values` comes from the page, so anything may be in it. */
export function addDeclaredValues(environment: Environment, values: unknown): Environment {
  const pairs = (Array.isArray(values) ? values : []).filter(
    (each): each is DeclaredValue =>
      Array.isArray(each) && each.length === 2 && each.every((text) => typeof text === 'string'),
  );
  const { [RELEASE]: release, ...declared } = Object.fromEntries(
    pairs
      .slice(0, MAX_VALUES)
      .map(([name, value]) => [name.slice(0, MAX_LENGTH), value.slice(0, MAX_LENGTH)]),
  );
  return { ...environment, release: release ?? environment.release ?? null, declared };
}
