export type Route =
  | { name: 'home' }
  | { name: 'board'; project: string; view: 'board' | 'table' | 'archive' }
  | { name: 'ticket'; ticket: string; tab: string | null }
  | { name: 'settings'; section: string }
  | { name: 'company'; company: string; section: string }
  | { name: 'search' }
  | { name: 'inbox' }
  | { name: 'invitation'; secret: string }
  | { name: 'notFound' };

/** Parse a path of the app; a slash at its end doesn't matter. The server knows the same paths (`PATHS` in its web app module). */
export function parsePath(path: string): Route {
  const [first, id, rest] = path
    .replace(/(?<=.)\/$/, '')
    .split('/')
    .slice(1)
    .map(decodeSegment);
  switch (first) {
    case '':
      return { name: 'home' };
    case 'projects':
      if (id && (rest === undefined || rest === 'table' || rest === 'archive'))
        return { name: 'board', project: id, view: rest ?? 'board' };
      break;
    case 't':
    case 'tickets':
      if (id) return { name: 'ticket', ticket: id, tab: rest ?? null };
      break;
    case 'settings':
      return { name: 'settings', section: id ?? '' };
    case 'companies':
      if (id) return { name: 'company', company: id, section: rest ?? 'general' };
      break;
    case 'search':
      return { name: 'search' };
    case 'inbox':
      return { name: 'inbox' };
    case 'invitations':
      if (id) return { name: 'invitation', secret: id };
  }
  return { name: 'notFound' };
}

/** Decode a segment of a path; one that is encoded wrongly stays as it is. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
