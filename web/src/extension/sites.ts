/** Which sites are recorded from their first moment on, and which of them with bodies. */
import type { Project } from './shapes';
import { state } from './store';

export const EVERYWHERE = '*://*/*';
const [RECORDER, WITH_BODIES, RELAY] = ['recorder', 'recorder-with-bodies', 'relay'];

/** Let the browser run the scripts that record where the person said so and the browser allows it. */
export async function register(): Promise<void> {
  const allowed = await allowedSites();
  const known = (await chrome.scripting.getRegisteredContentScripts()).map(({ id }) => id);
  if (known.length) await chrome.scripting.unregisterContentScripts({ ids: known });
  if (!allowed.length) return;
  const wanted = bodySites((await state.get('projects')) ?? []);
  const common = { runAt: 'document_start', allFrames: true, matchOriginAsFallback: true } as const;
  const main = { ...common, world: 'MAIN' } as const;
  await chrome.scripting.registerContentScripts([
    { ...common, id: RELAY!, js: ['relay.js'], matches: allowed },
    {
      ...main,
      id: RECORDER!,
      js: ['collect.js'],
      matches: allowed,
      ...(wanted.length ? { excludeMatches: wanted } : {}),
    },
    ...(wanted.length
      ? [{ ...main, id: WITH_BODIES!, js: ['bodies.js', 'collect.js'], matches: wanted }]
      : []),
  ]);
}

/** Begin to record in tabs that are open already: late, but from now on. */
export async function catchUp(): Promise<void> {
  const allowed = await allowedSites();
  if (!allowed.length) return;
  for (const tab of await chrome.tabs.query({ url: allowed })) {
    if (tab.id !== undefined && !tab.discarded) await inject(tab.id).catch(() => {});
  }
}

/** Start the recorder in every frame that has none. Raises where the browser lets no extension in. */
export async function inject(tab: number, frames?: number[]): Promise<void> {
  const target = frames ? { tabId: tab, frameIds: frames } : { tabId: tab, allFrames: true };
  const running = await chrome.scripting.executeScript({ target, func: () => 'ticketboxTell' in globalThis });
  const without = running.filter(({ result }) => !result).map(({ frameId }) => frameId);
  if (!without.length) return;
  const where = { target: { tabId: tab, frameIds: without } };
  await chrome.scripting.executeScript({ ...where, files: ['relay.js'] });
  await chrome.scripting.executeScript({ ...where, files: ['collect.js'], world: 'MAIN' });
}

export async function allowedSites(): Promise<string[]> {
  const sites = (await state.get('sites')) ?? [];
  const held = await Promise.all(sites.map((site) => chrome.permissions.contains({ origins: [site] })));
  return sites.filter((_, at) => held[at]);
}

export async function addSite(site: string): Promise<void> {
  const sites = (await state.get('sites')) ?? [];
  if (!sites.includes(site)) await state.put('sites', [...sites, site]);
}

export async function removeSite(site: string): Promise<void> {
  const sites = (await state.get('sites')) ?? [];
  await state.put(
    'sites',
    sites.filter((each) => each !== site),
  );
}

/** Tells whether an address is one whose project wants bodies. */
export async function wantsBodies(): Promise<(address: string) => boolean> {
  const patterns = bodySites((await state.get('projects')) ?? []).map((each) => {
    const [, host = ''] = /:\/\/(.*)\/\*$/.exec(each) ?? [];
    return { scheme: each.split(':')[0]!, host };
  });
  return (address) => {
    const { protocol, hostname } = URL.parse(address) ?? { protocol: '', hostname: '' };
    return patterns.some(
      ({ scheme, host }) =>
        (scheme === '*' || `${scheme}:` === protocol) &&
        (host === '*' ||
          host === hostname ||
          (host.startsWith('*.') && `.${hostname}`.endsWith(host.slice(1)))),
    );
  };
}

/** Match patterns that hold all pages of the projects that want bodies; what goes too far is left out when sending. */
function bodySites(projects: Project[]): string[] {
  const globs = projects
    .filter((each) => each.capture_policy.bodies === 'on')
    .flatMap((each) => each.url_patterns);
  return [...new Set(globs.map(coarse))];
}

function coarse(glob: string): string {
  const match = /^(https?):\/\/(\*\.)?([a-z0-9.-]+)(?::[\d*]+)?\//i.exec(glob);
  return match ? `${match[1]!.toLowerCase()}://${match[2] ?? ''}${match[3]!.toLowerCase()}/*` : EVERYWHERE;
}
