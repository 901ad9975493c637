/** Where the bodies of requests and responses are recorded. */
import type { Project } from '../../recorder/capture-types';
import { ALL_SITES, coversSite } from './recorded-sites';

/**
 * Of the recorded sites, match patterns of those without bodies: sites of projects that keep none, or all sites if no
 * project keeps them. A page that no project's pattern matches can go to any project, so it has bodies. Match patterns
 * are less precise than the projects' own; what a project doesn't keep is removed before sending.
 */
export function listSitesWithoutBodies(sites: string[], projects: Project[]): string[] {
  const keeping = projects.filter(({ capture_policy }) => capture_policy.bodies !== 'off');
  if (!keeping.length) return sites;
  const kept = listPatterns(keeping);
  const refused = listPatterns(projects.filter((each) => !keeping.includes(each)));
  return refused
    .filter((each) => !kept.some((other) => intersect(each, other).length))
    .flatMap((each) => sites.flatMap((site) => intersect(each, site)));
}

function listPatterns(projects: Project[]): string[] {
  return [...new Set(projects.flatMap((each) => each.url_patterns.map(toMatchPattern)))];
}

function toMatchPattern(urlPattern: string): string {
  const match = /^(https?):\/\/(\*\.)?([a-z0-9.-]+)(?::[\d*]+)?\//i.exec(urlPattern);
  return match ? `${match[1]!.toLowerCase()}://${match[2] ?? ''}${match[3]!.toLowerCase()}/*` : ALL_SITES;
}

/** What two match patterns have in common: the narrower one, or nothing. */
function intersect(one: string, other: string): string[] {
  if (coversSite(one, other)) return [other];
  return coversSite(other, one) ? [one] : [];
}
