// In the order of checking: most browsers also name those that they are compatible with.
const BROWSERS: [string, RegExp][] = [
  ['Edge', /\bEdgA?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+).* Safari\//],
];
const SYSTEMS: [string, RegExp][] = [
  ['iOS', /iPhone|iPad|iPod/],
  ['Android', /Android/],
  ['ChromeOS', /CrOS/],
  ['macOS', /^Mac|Mac OS/],
  ['Windows', /^Win|Windows/],
  ['Linux', /Linux|X11/],
];

// https://html.spec.whatwg.org/multipage/system-state.html#dom-navigator-platform
const PLATFORM = /^(Win32|Mac\w+|Linux \w+|iPhone|iPad)$/;

// Products that user agents name for compatibility: https://www.rfc-editor.org/rfc/rfc9110#section-10.1.5
const COMPATIBILITY = /^(Mozilla|AppleWebKit|Gecko|KHTML|Safari|Version|Mobile)$/;
const MAX_NAME = 40; // characters

/** Name the browser of a user agent, such as “Firefox 128”. A short text that is no user agent stays as it is. */
export function nameBrowser(userAgent: string): string {
  for (const [name, pattern] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version) return `${name} ${version}`;
  }
  return nameProduct(userAgent) ?? (isBrief(userAgent) ? userAgent : 'Unknown browser');
}

/** Name the first product of a user agent that isn't there for compatibility, such as “NetSurf 3”. */
function nameProduct(userAgent: string): string | undefined {
  const products = [...userAgent.matchAll(/([A-Za-z][\w.-]{0,40})\/(\d+)/g)];
  const own = products.find(([, name = '']) => !COMPATIBILITY.test(name) && isBrief(name));
  return own && `${own[1]} ${own[2]}`;
}

function isBrief(text: string): boolean {
  return text.length <= MAX_NAME && !text.startsWith('Mozilla/');
}

/** Name the operating system of what the browser calls its platform, such as `Win32`; other text stays as it is. */
export function nameSystem(userAgent: string | null | undefined, platform: string): string {
  if (!PLATFORM.test(platform)) return platform;
  const find = (text: string) => SYSTEMS.find(([, pattern]) => pattern.test(text))?.[0];
  return find(userAgent ?? '') ?? find(platform) ?? platform;
}
