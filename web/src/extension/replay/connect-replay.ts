/**
 * The part of the record reader that connects the replay recorder of its page: it passes on the options from the
 * background, and reads the record.
 */
import {
  nameReplayEvents,
  REPLAY_CHANNEL,
  REPLAY_READY,
  type ReplayOptions,
} from '../../recorder/replay/channel';

declare global {
  /** The replay recorder's record as JSON; null where it doesn't run. */
  var readTicketboxReplay: (() => string | null) | undefined;
}

export function connectReplay(requested: Promise<ReplayOptions | null>): void {
  const channel = `ticketbox-replay:${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
  const names = nameReplayEvents(channel);
  const sendChannelName = () => document.dispatchEvent(new CustomEvent(REPLAY_CHANNEL, { detail: channel }));

  document.addEventListener(
    names.connected,
    async () => {
      const options = await requested;
      if (options) document.dispatchEvent(new CustomEvent(names.start, { detail: JSON.stringify(options) }));
    },
    { once: true },
  );
  document.addEventListener(REPLAY_READY, sendChannelName, { once: true });
  sendChannelName();

  globalThis.readTicketboxReplay = () => {
    let answer: unknown = null;
    const onAnswer = (event: Event) => (answer = (event as CustomEvent).detail);
    document.addEventListener(names.answer, onAnswer, { once: true });
    document.dispatchEvent(new CustomEvent(names.request)); // the answer arrives before this returns
    document.removeEventListener(names.answer, onAnswer);
    return typeof answer === 'string' ? answer : null;
  };
}
