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

/** Name the browser of a user agent, such as “Firefox 128”; other text stays as it is. */
export function nameBrowser(userAgent: string): string {
  for (const [name, pattern] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version) return `${name} ${version}`;
  }
  return userAgent;
}

/** Name the operating system of what the browser calls its platform, such as `Win32`; other text stays as it is. */
export function nameSystem(userAgent: string | null | undefined, platform: string): string {
  if (!PLATFORM.test(platform)) return platform;
  const find = (text: string) => SYSTEMS.find(([, pattern]) => pattern.test(text))?.[0];
  return find(userAgent ?? '') ?? find(platform) ?? platform;
}
