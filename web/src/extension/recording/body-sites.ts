/** The sites whose projects record request and response bodies. */
import { appState } from '../storage';
import { ALL_SITES, matchesSite } from './recorded-sites';

/**
 * Match patterns of all pages whose project records bodies. They are less precise than the URL patterns of the
 * projects; the bodies of other pages are removed before sending.
 */
export async function getBodySites(): Promise<string[]> {
  const projects = (await appState.get('projects')) ?? [];
  const urlPatterns = projects
    .filter((each) => each.capture_policy.bodies !== 'off')
    .flatMap((each) => each.url_patterns);
  return [...new Set(urlPatterns.map(toMatchPattern))];
}

function toMatchPattern(urlPattern: string): string {
  const match = /^(https?):\/\/(\*\.)?([a-z0-9.-]+)(?::[\d*]+)?\//i.exec(urlPattern);
  return match ? `${match[1]!.toLowerCase()}://${match[2] ?? ''}${match[3]!.toLowerCase()}/*` : ALL_SITES;
}

/** Create a predicate: whether the bodies of a page are recorded, by its URL. */
export async function createBodyFilter(): Promise<(url: string) => boolean> {
  const sites = await getBodySites();
  return (url) => sites.some((site) => matchesSite(site, url));
}
