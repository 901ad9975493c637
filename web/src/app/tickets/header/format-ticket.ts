/** A ticket with what its capture says went wrong, as Markdown: for a chat, another tracker, or a model. */
import type { CaptureDetail, ErrorEntry, FailedRequest, TicketDetail } from '../../../../generated/api';
import { formatError } from '../../../shared/error-text';
import { describeFrame } from '../../captures/console/frames';
import { nameBrowser, nameSystem } from '../../captures/environment/browsers';

const MAX_ERRORS = 5;
const MAX_REQUESTS = 10;
const MAX_FRAMES = 10;

export function formatTicket(ticket: TicketDetail): string {
  const { key, title, url, description, capture } = ticket;
  const parts = [`# ${key}: ${title}`, url, description.trim()];
  if (capture) parts.push(...formatCapture(capture));
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

function formatCapture(capture: CaptureDetail): string[] {
  const errors = (capture.errors?.items ?? []).slice(0, MAX_ERRORS).map(describeError);
  const requests = (capture.failed_requests?.items ?? []).slice(0, MAX_REQUESTS).map(formatRequest);
  return [
    ...(errors.length > 0 ? ['## Errors', ...errors] : []),
    ...(requests.length > 0 ? ['## Failed requests', requests.join('\n')] : []),
    '## Environment',
    formatEnvironment(capture),
  ];
}

function describeError(error: ErrorEntry): string {
  const { count, stack, frames } = error;
  const text = formatError(error);
  const title = (count ?? 1) > 1 ? `${text} (${count} times)` : text;
  const places = (frames ?? []).slice(0, MAX_FRAMES).map((each) => {
    const { name: called, place } = describeFrame(each, false);
    return `    at ${called} (${place})`;
  });
  const lines = places.length > 0 ? [title, ...places] : [title, ...(stack ? [stack] : [])];
  return fence(lines.join('\n'));
}

/** A code block that the text can't end. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}text\n${text}\n${ticks}`;
}

function formatRequest({ method, url, status, error, count }: FailedRequest): string {
  const outcome = [status, error].filter((each) => each !== null).join(' ') || 'no response';
  return `- ${method} ${url}: ${outcome}${count > 1 ? ` (${count} times)` : ''}`;
}

function formatEnvironment({
  page,
  environment,
  captured_at: at,
  health_summary: health,
}: CaptureDetail): string {
  const { browser, os, viewport, release } = environment;
  const facts = [
    browser && nameBrowser(browser),
    os && nameSystem(browser, os),
    viewport && `${viewport.width}×${viewport.height}`,
    release && `release ${release}`,
  ];
  const lines = [`Page: ${page.url}`, `Browser: ${facts.filter(Boolean).join(', ')}`, `Captured: ${at}`];
  return [...lines, ...(health ? [`Recording: ${health}`] : [])].map((line) => `- ${line}`).join('\n');
}
