/** The site that was just recorded belongs to the project of the person's report from then on. */
import { callApi, loadProjects } from '../connection/api';
import { ApiError } from '../connection/request';
import { toMatchPattern } from '../connection/server-address';
import { appState } from '../storage';
import { getRecordedSites } from './recorded-sites';

/** Add the site to its project, once the browser allows to record it. Keeps why the server refused. */
export async function addNewSite(): Promise<void> {
  const site = await appState.get('newSite');
  if (!site || site.problem) return;
  const { origin, project } = site;
  if (!(await getRecordedSites()).includes(toMatchPattern(origin))) return;
  try {
    const headers = { 'Content-Type': 'application/json' };
    await callApi(`/projects/${project}/sites`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ origin }),
    });
    await appState.remove('newSite');
    await loadProjects();
  } catch (error) {
    if (error instanceof ApiError && !error.isTemporary)
      await appState.put('newSite', { ...site, problem: error.message });
  }
}
