import type { NetworkEntry } from '../capture-types';

/** The parts of a request that can have a body: request, response and messages. */
export function listPayloads({ request, response, messages }: NetworkEntry) {
  return [request, response, ...(messages ?? [])].filter((each) => each !== undefined);
}
