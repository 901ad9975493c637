/** The address of the server that the extension's zip came from; null if it came from elsewhere. */
import { parseServerAddress } from './server-address';

export async function loadPackagedAddress(): Promise<string | null> {
  try {
    const file = await fetch(chrome.runtime.getURL('server.json'));
    return parseServerAddress(((await file.json()) as { address: string }).address);
  } catch {
    return null;
  }
}
