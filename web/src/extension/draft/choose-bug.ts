/** The failures of a capture, for the person to choose the bug. */
import type { NetworkEntry, Streams } from '../../recorder/capture-types';
import type { Failure } from '../../../generated/api';
import { isSameFailure, nameError, nameLine, nameRequest } from '../../shared/failures';
import { describeEntry } from './edit-draft';

export interface FoundFailure extends Failure {
  text: string;
  ts: number;
}

const MAX_SHOWN = 5;
/** What a page asks for itself. */
const CALLS = new Set(['fetch', 'xhr', 'document']);

/** List the failures, newest first and each text once. `others` are older ones, and failed parts of the page. */
export function listFailures({ errors, console: lines, network }: Streams): {
  shown: FoundFailure[];
  others: FoundFailure[];
} {
  const found = [
    ...errors.map((each) => ({ name: nameError(each), ts: each.ts, text: describeEntry('errors', each) })),
    ...lines.map((each) => ({ name: nameLine(each), ts: each.ts, text: each.args.join(' ').slice(0, 300) })),
    ...network.map((each) => ({
      name: nameRequest(each),
      ts: each.ts,
      text: describeRequest(each),
      isMinor: !CALLS.has(each.type),
    })),
  ].sort((one, other) => other.ts - one.ts);
  const distinct = found.filter(
    (each, index) => each.name && found.findIndex(({ text }) => text === each.text) === index,
  );
  const shown = distinct.filter((each) => !('isMinor' in each && each.isMinor)).slice(0, MAX_SHOWN);
  const clean = ({ name, ts, text }: (typeof found)[number]) => ({ ...name!, ts, text });
  return {
    shown: shown.map(clean),
    others: distinct.filter((each) => !shown.includes(each)).map(clean),
  };
}

function describeRequest({ method, url, status, error }: NetworkEntry): string {
  const { host, pathname } = URL.parse(url) ?? { host: '', pathname: url };
  return `${method} ${host}${pathname}: ${status ?? error ?? 'no answer'}`.slice(0, 300);
}

/** The chosen failure, unless it was removed from what is sent. */
export function findChosen({ streams, bug }: { streams: Streams; bug?: Failure }): Failure | undefined {
  const { errors, console: lines, network } = streams;
  const names = [...errors.map(nameError), ...lines.map(nameLine), ...network.map(nameRequest)];
  return names.find((name) => isSameFailure(name, bug)) ?? undefined;
}

/** A draft with the chosen failure, or without one. */
export function chooseBug<T extends { bug?: Failure }>(
  { bug: _, ...draft }: T,
  bug: Failure | undefined,
): Omit<T, 'bug'> & { bug?: Failure } {
  return bug ? { ...draft, bug } : draft;
}
