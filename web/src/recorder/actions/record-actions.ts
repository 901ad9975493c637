/**
 * Records what a person does in a frame: clicks, typing, choices, keys, navigation. Runs in the extension's world of the
 * frame, where scripts of the page can't reach it. All listeners are passive, and first in the capture phase.
 */
import type { ActionEntry, ReadOptions } from '../capture-types';
import { addLastingListener } from '../natives/lasting-listeners';
import { now } from '../natives/natives';
import { ActionLog } from './action-log';
import { controlOf, inputTypeOf, isEditable, matchesSelector, targetOf, closestOf } from './dom';
import { nameKey } from './keys';
import { describeTarget, findInteractive } from './locators';
import { FIELDS, hideParts, isField, isPrivate } from './privacy';
import { describeChoice, describeValue } from './value-kinds';

/** Scrolling later than this after the last input is a script's. */
const INPUT_MS = 1_000;
const LABEL_MS = 100;
const TEXT_FIELDS = `${FIELDS.replace('select, ', '')}`;

type Details = Partial<ActionEntry> & Pick<ActionEntry, 'kind'>;

export interface ActionsRecorder {
  read: (options: ReadOptions) => { entries: ActionEntry[]; dropped: number };
  /** Hide the parts of the page that match these selectors. What actions were done to is read only after this. */
  applyMasks: (masks: readonly string[]) => void;
}

/** Start recording. `isLate`: the page was there before. `isExcluded`: which events aren't the page's. */
export function recordActions(
  isLate: boolean,
  isExcluded: (event: Event) => boolean = () => false,
): ActionsRecorder {
  const log = new ActionLog();
  let address = isLate ? location.href : '';
  let lastInputAt = -Infinity;
  /** When the button was pressed whose click comes when it is released; the page may act before that. */
  let pressedAt: number | null = null;
  /** The field of the label that was clicked; the browser then clicks the field itself. */
  let labelled: { field: Element; at: number } | null = null;

  const add = (details: Details, element: Element | null = null, isAlone = false) =>
    log.add(details, element, describeTarget, isAlone);
  const checkAddress = () => {
    // other documents' addresses in frames are rather advertisements than steps
    if (window !== top || location.href === address) return;
    address = location.href;
    add({ kind: 'navigate', url: address.slice(0, 8_192) });
  };
  const listen = <T extends Event>(type: string, record: (event: T) => void, target: EventTarget = window) =>
    addLastingListener<T>(
      target,
      type,
      (event) => {
        try {
          if (!isExcluded(event)) record(event);
        } catch {
          // an element that can't be described must not become an error of the page
        }
      },
      { capture: true, passive: true },
    );

  for (const type of ['pointerdown', 'wheel', 'touchmove', 'keydown'])
    listen(type, ({ isTrusted }) => (lastInputAt = isTrusted ? now() : lastInputAt));

  listen('pointerdown', ({ isTrusted }) => (pressedAt = isTrusted ? now() : pressedAt));
  listen<MouseEvent>('click', (event) => {
    checkAddress();
    const ts = event.isTrusted && event.detail > 0 && pressedAt !== null ? pressedAt : now();
    if (event.isTrusted) pressedAt = null;
    const innermost = targetOf(event);
    if (!innermost) return;
    const clicked = findInteractive(innermost);
    const field = controlOf(clicked);
    const isOfLabel = labelled?.field === clicked && now() - labelled.at <= LABEL_MS;
    labelled = field && event.isTrusted ? { field, at: now() } : null;
    const isAlone = event.isTrusted && event.detail <= 1;
    if (!isOfLabel) add({ kind: 'click', ts, synthetic: !event.isTrusted }, field ?? clicked, isAlone);
  });
  listen('input', (event) => {
    const field = fieldOf(event);
    if (!field || (!isTextField(field) && !isEditable(field))) return;
    const value_kind = isPrivate(field) ? 'private' : describeValue(field);
    add({ kind: 'input', value_kind, synthetic: !event.isTrusted }, field);
  });
  listen('change', (event) => {
    const field = fieldOf(event);
    const choice = field && describeChoice(field);
    if (!field || !choice) return;
    add(
      { kind: 'change', value_kind: isPrivate(field) ? 'private' : choice, synthetic: !event.isTrusted },
      field,
    );
  });
  listen('submit', (event) => {
    const form = targetOf(event);
    if (form) add({ kind: 'submit', synthetic: !event.isTrusted }, form);
  });
  listen<KeyboardEvent>('keydown', (event) => {
    checkAddress();
    const element = targetOf(event);
    const isInField = element !== null && (isField(element) || isEditable(element));
    const key = nameKey(
      event,
      isInField && (element === null || isTextField(element) || isEditable(element)),
    );
    if (key === null) return;
    const isPage = element === null || matchesSelector(element, 'body, html');
    add({ kind: 'key', key, synthetic: !event.isTrusted }, isPage ? null : element);
  });
  listen('scroll', (event) => {
    const synthetic = !event.isTrusted || now() - lastInputAt > INPUT_MS;
    add({ kind: 'scroll', synthetic }, event.target instanceof Element ? event.target : null);
  });
  listen('resize', ({ isTrusted, target }) => {
    if (target === window) add({ kind: 'resize', synthetic: !isTrusted });
  });
  listen(
    'visibilitychange',
    ({ isTrusted }) => {
      if (window === top)
        add({ kind: 'visibility', value_kind: document.visibilityState, synthetic: !isTrusted });
    },
    document,
  );
  listen('popstate', checkAddress);
  listen('hashchange', checkAddress);
  // Firefox before 147 has no navigation API: the next action notices the new address
  const { navigation } = globalThis as { navigation?: EventTarget };
  if (navigation) listen('currententrychange', checkAddress, navigation);
  checkAddress();

  return {
    read(options) {
      checkAddress();
      return log.read(options);
    },
    applyMasks(masks) {
      hideParts(masks);
      log.applyMasks(masks.length ? describeTarget : null);
    },
  };
}

function isTextField(element: Element): boolean {
  const type = inputTypeOf(element);
  if (type !== null) return !/^(?:button|checkbox|color|file|image|radio|range|reset|submit)$/.test(type);
  return matchesSelector(element, TEXT_FIELDS);
}

/** The field that an event is about. In an editor, the whole of it. */
function fieldOf(event: Event): Element | null {
  const innermost = targetOf(event);
  return innermost && (closestOf(innermost, FIELDS) ?? innermost);
}
