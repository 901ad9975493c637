import type { Project } from './shapes';

/** The project whose address pattern fits a page best: the one with the most literal characters (docs/use/captures.md). */
export function chosenBy(projects: Project[], url: string): Project | undefined {
  let [best, most] = [undefined as Project | undefined, -1];
  for (const project of projects)
    for (const glob of project.url_patterns) {
      const literal = glob.replaceAll('*', '').length;
      if (literal > most && fits(glob, url)) [best, most] = [project, literal];
    }
  return best;
}

function fits(glob: string, url: string): boolean {
  const [first, ...rest] = glob.split('*') as [string, ...string[]];
  if (!rest.length) return glob === url;
  if (!url.startsWith(first)) return false;
  const last = rest.pop()!;
  let at = first.length;
  for (const part of rest) {
    const found = url.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return url.length - last.length >= at && url.endsWith(last);
}
