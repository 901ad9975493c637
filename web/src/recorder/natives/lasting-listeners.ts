/**
 * Listeners that outlast `document.open()`, which removes all listeners of the document and its window. A late
 * `document.write()` opens the document, too, and so do scripts that write the content of a frame.
 */
import { apply, wrap } from './natives';

type Listener = (event: never) => void;

const addNative = EventTarget.prototype.addEventListener;
const listeners: [target: EventTarget, type: string, listener: Listener, options: AddEventListenerOptions][] =
  [];

export function addLastingListener<T extends Event>(
  target: EventTarget,
  type: string,
  listener: (event: T) => void,
  options: AddEventListenerOptions = {},
): void {
  listeners.push([target, type, listener, options]);
  apply(addNative, target, [type, listener, options]);
}

/** Add all listeners again. This changes nothing for those that are still there. */
function restoreListeners(): void {
  for (let index = 0; index < listeners.length; index += 1) {
    const [target, ...rest] = listeners[index]!;
    apply(addNative, target, rest);
  }
}

// an opened document loses its children, and observers stay
new MutationObserver(restoreListeners).observe(document, { childList: true });

/** Restore the listeners before the page's next statement, in its JavaScript world. */
export function watchDocumentWrites(): void {
  for (const name of ['open', 'write', 'writeln'] as const)
    wrap(Document.prototype, name, (original) => ({
      call(this: unknown, ...args: unknown[]) {
        try {
          return apply(original, this, args as never);
        } finally {
          if (this === document) restoreListeners();
        }
      },
    }));
}
