import type { Project } from '../../recorder/capture-types';

/** The project whose URL pattern matches a page with the most literal characters (docs/use/captures.md). */
export function chooseProject(projects: Project[], url: string): Project | undefined {
  let [best, bestLength] = [undefined as Project | undefined, -1];
  for (const project of projects)
    for (const pattern of project.url_patterns) {
      const length = pattern.replaceAll('*', '').length;
      if (length > bestLength && matches(pattern, url)) [best, bestLength] = [project, length];
    }
  return best;
}

/** The id of the project for a page: by its pattern, else the one that was chosen last; empty without projects. */
export function suggestProject(projects: Project[], url: string, lastId: string | undefined): string {
  const last = projects.find(({ id }) => id === lastId);
  return (chooseProject(projects, url) ?? last ?? projects[0])?.id ?? '';
}

/** Whether a URL matches a pattern, in which `*` matches any characters. */
function matches(pattern: string, url: string): boolean {
  const [first, ...rest] = pattern.split('*') as [string, ...string[]];
  if (!rest.length) return pattern === url;
  if (!url.startsWith(first)) return false;
  const last = rest.pop()!;
  let position = first.length;
  for (const part of rest) {
    const found = url.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return url.length - last.length >= position && url.endsWith(last);
}
