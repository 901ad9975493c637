/**
 * Resolving the stacks of a capture with the source maps that its page can load (docs/use/source-maps.md). It runs in the
 * background, while the person reads the preview.
 */
import type { Frame, StreamHealth, Streams } from '../../recorder/capture-types';
import { Redactor } from '../../recorder/redaction/redactor';
import { REDACTED } from '../../recorder/redaction/secret-values';
import { parseStack } from '../../recorder/stack-trace';
import { appState, type Draft } from '../storage';
import { ByteBudget } from './byte-budget';
import { findMapAddress, loadMap, type LoadResult } from './load-in-page';
import { mayLoad } from './map-address';
import { PageMap } from './page-map';

export const MAX_SCRIPTS = 20;
export const MAX_MAP_BYTES = 16 * 1024 * 1024;
export const MAX_BYTES = 48 * 1024 * 1024;
export const MAX_TIME_MS = 3_000;
const MAX_FRAMES = 2_000;
const MAX_CONTEXTS = 5;
/** How many scripts are loaded together. */
const LOADERS = 4;

/** What became of the stacks of a draft. */
export interface ResolvedStacks {
  /** The id of the draft. */
  draft: string;
  /** The frames of entries, by their `seq`. */
  frames: [seq: number, frames: Frame[]][];
  health: StreamHealth;
}

type MapText = Extract<LoadResult, { text: string }>;
type Problem = 'limit' | 'error' | 'hidden';

interface Stack {
  seq: number;
  frames: Frame[];
  /** How many of its frames get the lines around them. */
  contexts: number;
}

/** Resolve the stacks of a draft; null if it has none. The redaction rules of all projects apply. */
export async function resolveStacks(draft: Draft): Promise<ResolvedStacks | null> {
  const stacks = listStacks(draft.streams);
  const page = URL.parse(draft.envelope.page.url);
  const scripts = page ? listScripts(stacks, draft) : [];
  if (!page || !scripts.length) return null;
  const problems: Problem[] = scripts.length > MAX_SCRIPTS ? ['limit'] : [];
  const deadline = performance.now() + MAX_TIME_MS;
  const maps = await loadMaps(draft.tab, page, scripts.slice(0, MAX_SCRIPTS), deadline, problems);
  const projects = (await appState.get('projects')) ?? [];
  const rules = projects.flatMap((each) => each.capture_policy.extra_redactions);
  const captured = resolveFrames(stacks, maps, deadline, new Redactor([...new Set(rules)]));
  const changed = stacks.filter(({ frames }) => frames.some(({ original }) => original));
  return {
    draft: draft.id,
    frames: changed.map(({ seq, frames }) => [seq, frames]),
    health: describe(captured, problems),
  };
}

function describe(captured: number, problems: Problem[]): StreamHealth {
  const status = problems.length ? (captured ? 'partial' : 'blocked') : captured ? 'ok' : 'empty';
  return { status, reason: problems[0] ?? null, captured, dropped: problems.length };
}

/** The stacks of a capture, those of what went wrong first. */
export function listStacks({ errors, console }: Streams): Stack[] {
  const isFailure = ({ level }: Streams['console'][number]) => level === 'error' || level === 'warn';
  const lines = [...console.filter(isFailure), ...console.filter((each) => !isFailure(each))];
  return [
    ...errors.map(({ seq, frames }) => ({ seq, frames: frames ?? [], contexts: MAX_CONTEXTS })),
    ...lines.map(({ seq, stack }) => ({ seq, frames: parseStack(stack ?? ''), contexts: 0 })),
  ]
    .filter(({ frames }) => frames.length)
    .map(({ frames, ...stack }) => ({ ...stack, frames: frames.map((each) => ({ ...each })) }));
}

/** The addresses of the scripts of stacks, each once. Documents aren't loaded again for the scripts in them. */
function listScripts(stacks: Stack[], { envelope, streams }: Draft): string[] {
  const entries = [...streams.console, ...streams.network, ...streams.errors];
  const documents = new Set([envelope.page.url, ...entries.map(({ frame }) => frame ?? '')].map(identify));
  for (const { type, url } of streams.network) if (type === 'document') documents.add(identify(url));
  const scripts = new Set(stacks.flatMap(({ frames }) => frames.map(({ url }) => identify(url))));
  return [...scripts].filter((url) => /^https?:/.test(url) && !documents.has(url) && !url.includes(REDACTED));
}

/** An address as it is loaded: without its fragment. */
const identify = (url: string) => url.split('#', 1)[0]!;

/** Load the maps of scripts, by their addresses. What is ignored is added to `problems`. */
async function loadMaps(
  tab: number,
  page: URL,
  scripts: string[],
  deadline: number,
  problems: Problem[],
): Promise<Map<string, PageMap>> {
  const maps = new Map<string, PageMap>();
  const waiting = [...scripts];
  const budget = new ByteBudget(MAX_BYTES);
  const limit = (bytes: number) => ({ bytes, milliseconds: deadline - performance.now() });
  const load = async (script: string): Promise<Problem | null> => {
    if (!(await mayLoad(script, page.href))) return null;
    const found = await findMapAddress(tab, page.origin, script, limit(MAX_MAP_BYTES));
    if ('problem' in found) return found.problem === 'limit' ? 'limit' : null;
    if (!('map' in found) || found.map === null) return null;
    const read = await readMap(found.map, script);
    if ('problem' in read) return read.problem;
    if (performance.now() > deadline) return 'limit';
    maps.set(script, new PageMap(read.text));
    return null;
  };
  const readMap = async (address: string, script: string): Promise<MapText | { problem: Problem }> => {
    const isData = address.startsWith('data:');
    const url = isData ? address : (URL.parse(address, script)?.href ?? '');
    if (!isData && !(await mayLoad(url, page.href))) return { problem: 'hidden' };
    const reserved = await budget.reserve(MAX_MAP_BYTES);
    let used = 0;
    try {
      const found = await (isData
        ? readData(address, reserved)
        : loadMap(tab, page.origin, url, limit(reserved)));
      if ('text' in found) {
        used = found.bytes;
        return found;
      }
      return { problem: 'problem' in found && found.problem === 'limit' ? 'limit' : 'hidden' };
    } finally {
      budget.release(reserved, used);
    }
  };
  const loadNext = async () => {
    for (let script = waiting.shift(); script !== undefined; script = waiting.shift()) {
      const problem = await load(script).catch((): Problem => 'error');
      if (problem) problems.push(problem);
    }
  };
  await Promise.all(Array.from({ length: LOADERS }, loadNext));
  return maps;
}

/** Read the map in a `data:` address. Raises Error. */
async function readData(address: string, bytes: number): Promise<MapText | { problem: 'limit' }> {
  if (address.length > MAX_MAP_BYTES) return { problem: 'limit' };
  const map = await (await fetch(address)).blob();
  return map.size > bytes ? { problem: 'limit' } : { text: await map.text(), bytes: map.size };
}

/** Resolve frames in place; return how many. A map that turns out to be invalid resolves nothing. */
export function resolveFrames(
  stacks: Stack[],
  maps: Map<string, PageMap>,
  deadline: number,
  redactor: Redactor,
): number {
  const find = ({ url, line, column }: Frame) => {
    try {
      return (line && maps.get(identify(url))?.find(line, column || 1)) || null;
    } catch {
      maps.delete(identify(url));
      return null;
    }
  };
  let resolved = 0;
  for (const { frames, contexts } of stacks) {
    let count = 0;
    for (const frame of frames) {
      const place = find(frame);
      if (!place) continue;
      if (resolved === MAX_FRAMES || performance.now() > deadline) return resolved;
      const { file, line, column, text } = place;
      const context = text && count < contexts ? text.listContext(line) : [];
      frame.original = {
        file: redactor.redactText(file),
        line,
        column,
        context: context.map((each) => redactor.redactText(each, 200)),
      };
      count += 1;
      resolved += 1;
    }
  }
  return resolved;
}
