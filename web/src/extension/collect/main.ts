/**
 * The collector: runs in the page's own world, before the page's first script, and keeps what happens there.
 *
 * Nothing leaves it until the relay asks, which it does when somebody takes a capture.
 */
import { CALL, NAME } from '../channel';
import type { Record } from '../shapes';
import { listenToConsole } from './console';
import { listenToErrors } from './errors';
import { listenToFetch } from './fetch';
import { hideWrappers, now } from './natives';
import { Order } from './order';
import { Requests } from './requests';
import { listenToTimings } from './timings';
import { listenToXhr } from './xhr';

declare global {
  /** Set by bodies.js, and gone again before the page begins. */
  var ticketboxBodies: true | undefined;
}

const began = now();
const late = document.readyState !== 'loading';
const bodies = globalThis.ticketboxBodies === true;
delete globalThis.ticketboxBodies;

const order = new Order();
const readConsole = listenToConsole(order);
const errors = listenToErrors(order);
const requests = new Requests(bodies);
listenToFetch(requests);
listenToXhr(requests);
const joinTimings = listenToTimings();
hideWrappers();

function record(): Record {
  const fromConsole = readConsole();
  const fromErrors = errors.read();
  const loads = joinTimings(
    requests.ring.all.map((each) => each.entry()),
    errors.failed,
  );
  return {
    began,
    late,
    console: fromConsole.entries,
    network: loads.entries,
    errors: fromErrors.entries,
    dropped: {
      console: fromConsole.dropped,
      network: requests.ring.dropped + loads.dropped,
      errors: fromErrors.dropped,
    },
  };
}

document.addEventListener(
  NAME,
  (event) => {
    const channel: unknown = (event as CustomEvent).detail;
    if (typeof channel !== 'string') return;
    document.addEventListener(channel, () => {
      let detail = '';
      try {
        detail = JSON.stringify(record());
      } catch (error) {
        detail = JSON.stringify({ error: String(error) });
      }
      document.dispatchEvent(new CustomEvent(`${channel}!`, { detail }));
    });
  },
  { once: true },
);
document.dispatchEvent(new CustomEvent(CALL));
