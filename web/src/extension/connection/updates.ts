/** Newer versions of the extension: a zip that was unpacked, or signed by an organisation, isn't updated by a store. */
import { loadPackagedAddress } from './packaged-server';
import { sendRequest } from './request';
import { isNewer } from './versions';

export interface Update {
  version: string;
  /** The address of the zip. */
  url: string;
}

/** The newer version that a server has; null if it has none, can't be reached, or a store updates the extension. */
export async function findUpdate(serverUrl: string): Promise<Update | null> {
  if (!(await loadPackagedAddress())) return null;
  try {
    const response = await sendRequest(`${serverUrl}/extension/version.json`);
    const { version } = (await response.json()) as { version: string };
    const isUpdate = isNewer(version, chrome.runtime.getManifest().version);
    return isUpdate ? { version, url: `${serverUrl}/extension/${nameEdition()}.zip` } : null;
  } catch {
    return null;
  }
}

function nameEdition(): string {
  return chrome.runtime.getURL('').startsWith('moz-') ? 'firefox' : 'chromium';
}
