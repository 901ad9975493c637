/** The resolved frames in a draft. Each function returns a new draft. */
import type { Frame } from '../../recorder/capture-types';
import type { ResolvedStacks } from '../source-maps/resolve-stacks';
import type { Draft } from '../storage';

/** Add resolved frames to the draft, if it is still the one that they are of. */
export function addOriginals(resolved: ResolvedStacks | null, draft: Draft | undefined): Draft | undefined {
  if (!resolved || draft?.id !== resolved.draft) return draft;
  const frames = new Map(resolved.frames);
  const add = <T extends { seq: number }>(entries: T[]) =>
    entries.map((each) => (frames.has(each.seq) ? { ...each, frames: frames.get(each.seq) } : each));
  const { streams, envelope } = draft;
  return {
    ...draft,
    streams: { ...streams, errors: add(streams.errors), console: add(streams.console) },
    envelope: { ...envelope, health: { ...envelope.health, source_maps: resolved.health } },
  };
}

/** Remove the resolved frames of a draft. */
export function removeOriginals(draft: Draft): Draft {
  const { source_maps: _, ...health } = draft.envelope.health;
  const remove = <T extends { frames?: Frame[] }>(entries: T[]) =>
    entries.map((each) =>
      each.frames ? { ...each, frames: each.frames.map(({ original: __, ...frame }) => frame) } : each,
    );
  const { streams } = draft;
  return {
    ...draft,
    streams: { ...streams, errors: remove(streams.errors), console: remove(streams.console) },
    envelope: { ...draft.envelope, health },
  };
}

/** The author's files that the draft names, and in how many frames. */
export function listOriginals({ streams }: Draft): { files: string[]; frames: number } {
  const entries = [...streams.errors, ...streams.console];
  const originals = entries.flatMap(({ frames = [] }) => frames.flatMap(({ original }) => original ?? []));
  return { files: [...new Set(originals.map(({ file }) => file))], frames: originals.length };
}
