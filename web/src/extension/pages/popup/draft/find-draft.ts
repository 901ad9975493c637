/** The draft that the popup continues with, and what is known about its page. */
import { Redactor } from '../../../../recorder/redaction/redactor';
import { toMatchPattern } from '../../../connection/server-address';
import { ALL_SITES, getRecordedSites } from '../../../recording/recorded-sites';
import { drafts, type Draft } from '../../../storage';

/** The draft that the user started on this page and left. */
export async function findDraft({ id, url = '' }: chrome.tabs.Tab): Promise<Draft | undefined> {
  const redactedUrl = new Redactor().redactText(url);
  const all = await drafts.getAll();
  return all.find((each) => each.filled && each.tab === id && each.envelope.page.url === redactedUrl);
}

/** Whether the extension records the site of a page; also if it has none. */
export async function isSiteRecorded(url: string | undefined): Promise<boolean> {
  if (!hostOf(url)) return true;
  const sites = await getRecordedSites();
  return sites.includes(ALL_SITES) || sites.includes(toMatchPattern(url!));
}

/** The host of a web page; empty for other pages. */
export function hostOf(url: string | undefined): string {
  return url && /^https?:/.test(url) ? new URL(url).host : '';
}
