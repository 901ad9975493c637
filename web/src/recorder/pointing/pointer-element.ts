/** The element over the page in which a person points at what is wrong. What happens in it is no step. */
export const POINTER = 'ticketbox-pointer';

/** Whether an event happens in that element. */
export function isPointing(event: Event): boolean {
  return event.composedPath().some((each) => (each as Element).localName === POINTER);
}
