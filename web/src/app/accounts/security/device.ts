const BROWSERS: [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
];

/** Name the browser and the system of a user agent: "Firefox on Linux". */
export function deviceName(agent: string | null): string {
  const match = (table: [RegExp, string][]) => table.find(([pattern]) => pattern.test(agent ?? ''))?.[1];
  const [browser, system] = [match(BROWSERS), match(SYSTEMS)];
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? agent ?? 'Unknown browser';
}
