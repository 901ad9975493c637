/**
 * Records what a person does in a frame: clicks, typing, choices, keys, navigation. Runs in the extension's world of the
 * frame, where scripts of the page can't reach it. All listeners are passive, and first in the capture phase.
 */
import type { ActionEntry, ReadOptions } from '../capture-types';
import { addLastingListener } from '../natives/lasting-listeners';
import { now } from '../natives/natives';
import { isPointing } from '../pointing/pointer-element';
import { ActionLog } from './action-log';
import { controlOf, inputTypeOf, isEditable, matchesSelector, measureText, targetOf, closestOf } from './dom';
import { DragRecorder, placeIn } from './drags';
import { HoverRecorder } from './hovers';
import { nameHeld, nameKey, TypingDetector, type KeyPlace } from './keys';
import { describeFrames, describeTarget, findInteractive } from './locators';
import { EDITORS, FIELDS, hideParts, isField, isPrivate } from './privacy';
import { readArrival, watchTraversals } from './traversals';
import { describeChoice, describeValue, readRules } from './value-kinds';

/** Scrolling later than this after the last input is a script's. */
const INPUT_MS = 1_000;
const LABEL_MS = 100;
const TEXT_FIELDS = `${FIELDS.replace('select, ', '')}`;
const LISTS = '[role=listbox], [role=option], [role=combobox], [role=menu], [role=menuitem], option';
/** Where in it a click was, matters. */
const PICTURES = 'canvas, svg, svg *, img, video, object, embed';
/** What Space presses; the browser then clicks it. */
const CONTROLS = 'button, input, select, textarea, summary, option';
/** Fields whose keys do more than move in the text: they open and choose from lists. */
const REACTING =
  '[role=combobox], [role=searchbox], [aria-expanded], [aria-autocomplete], [aria-haspopup], [aria-controls], [aria-activedescendant], [list]';
const HOVERING = new Set<ActionEntry['kind']>(['click', 'drag']);
const MINOR = new Set<ActionEntry['kind']>(['scroll', 'resize', 'visibility', 'hover']);

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

  const hovers = new HoverRecorder();
  const addEntry = (details: Details, element: Element | null, isAlone: boolean) =>
    log.add(details, element, describeTarget, isAlone);
  const add = (details: Details, element: Element | null = null, isAlone = false) => {
    if (!details.synthetic && !MINOR.has(details.kind))
      hovers.flush(HOVERING.has(details.kind) ? element : null, addHover);
    return addEntry(details, element, isAlone);
  };
  const addHover = (hover: Partial<ActionEntry>, element: Element) =>
    addEntry({ kind: 'hover', ...hover }, element, true);
  const drags = new DragRecorder(add, (entry, element, place) =>
    log.endDrag(entry, element, place, describeTarget),
  );
  const typing = new TypingDetector();
  let typed: ActionEntry[] = [];
  const addNavigation = (value_kind: string | null) => {
    // other documents' addresses in frames are rather advertisements than steps
    if (window !== top) return;
    address = location.href;
    add({ kind: 'navigate', url: address.slice(0, 8_192), value_kind });
  };
  const checkAddress = (how: string | null = null) => {
    if (location.href !== address) addNavigation(how);
  };
  const listen = <T extends Event>(type: string, record: (event: T) => void, target: EventTarget = window) =>
    addLastingListener<T>(
      target,
      type,
      (event) => {
        try {
          if (!isPointing(event) && !isExcluded(event)) record(event);
        } catch {
          // an element that can't be described must not become an error of the page
        }
      },
      { capture: true, passive: true },
    );

  for (const type of ['pointerdown', 'wheel', 'touchmove', 'keydown'])
    listen(type, ({ isTrusted }) => (lastInputAt = isTrusted ? now() : lastInputAt));

  listen<PointerEvent>('pointerdown', (event) => {
    pressedAt = event.isTrusted ? now() : pressedAt;
    drags.press(event);
  });
  listen<PointerEvent>('pointerup', (event) => drags.release(event));
  listen('pointercancel', () => drags.cancel());
  listen<DragEvent>('dragstart', (event) => drags.start(event));
  listen<DragEvent>('dragover', (event) => drags.enter(event));
  for (const type of ['drop', 'dragend']) listen<DragEvent>(type, (event) => drags.end(event));
  listen<PointerEvent>('pointerover', (event) => hovers.enter(event));
  listen<MouseEvent>('click', (event) => {
    checkAddress();
    const ts = event.isTrusted && event.detail > 0 && pressedAt !== null ? pressedAt : now();
    if (event.isTrusted) pressedAt = null;
    const innermost = targetOf(event);
    if (!innermost || (event.isTrusted && drags.isEnd())) return;
    const clicked = findInteractive(innermost);
    if (describeChoice(clicked) === 'range') return; // its change says it
    const field = controlOf(clicked);
    const isOfLabel = labelled?.field === clicked && now() - labelled.at <= LABEL_MS;
    labelled = field && event.isTrusted ? { field, at: now() } : null;
    const isAlone = event.isTrusted && event.detail <= 1;
    if (!isOfLabel) addClick({ ts, synthetic: !event.isTrusted }, event, field ?? clicked, isAlone);
  });
  const addClick = (details: Partial<ActionEntry>, event: MouseEvent, element: Element, isAlone: boolean) => {
    const isPicture = event.isTrusted && event.detail > 0 && matchesSelector(element, PICTURES);
    const value_kind = isField(element) && isPrivate(element) ? 'private' : null;
    const point = isPicture && { point: placeIn(element, [event.clientX, event.clientY]) };
    const key = (event.isTrusted && nameHeld(event)) || null;
    add({ kind: 'click', value_kind, key, ...details, ...point }, element, isAlone);
  };
  for (const [type, button] of [
    ['contextmenu', 'right'],
    ['auxclick', 'middle'],
  ] as const)
    listen<MouseEvent>(type, (event) => {
      const element = targetOf(event);
      if (!element || !event.isTrusted || event.button !== (button === 'right' ? 2 : 1)) return;
      checkAddress();
      addClick({ ts: pressedAt ?? now(), button }, event, findInteractive(element), true);
      pressedAt = null;
    });
  listen('input', (event) => {
    const field = fieldOf(event);
    if (!field) return;
    if (describeChoice(field) === 'range') return addChange(event);
    if (!isTextField(field) && !isEditable(field)) return;
    const value = isPrivate(field) ? { value_kind: 'private' } : describeValue(field);
    add({ kind: 'input', synthetic: !event.isTrusted, ...value, ...readRules(field) }, field);
  });
  const addChange = (event: Event) => {
    const field = fieldOf(event);
    const choice = field && describeChoice(field);
    if (!field || !choice) return;
    const traits = choice === 'range' && !isPrivate(field) ? measureText(field).traits : [];
    const value_kind = isPrivate(field) ? 'private' : choice;
    const ts = choice === 'range' && pressedAt !== null ? pressedAt : now();
    const details = { ts, value_kind, synthetic: !event.isTrusted, ...(traits.length && { traits }) };
    add({ kind: 'change', ...details, ...readRules(field) }, field);
  };
  listen('change', addChange);
  listen('submit', (event) => {
    const form = targetOf(event);
    if (form) add({ kind: 'submit', synthetic: !event.isTrusted }, form);
  });
  listen<KeyboardEvent>('keydown', (event) => {
    checkAddress();
    const element = targetOf(event);
    const place = findKeyPlace(element);
    const key = nameKey(event, place);
    const isPage = element === null || matchesSelector(element, 'body, html');
    const ts = now();
    const addKey = (name: string | null) =>
      add({ kind: 'key', ts, key: name, synthetic: !event.isTrusted }, isPage ? null : element);
    if (key === null) {
      // the page may use a key that only moves in a field otherwise; that is known when its own listeners are done
      const named = place === 'field' ? nameKey(event, 'reacting field') : null;
      if (named) setTimeout(() => event.defaultPrevented && addKey(named));
      return;
    }
    const isText = typing.isTyping(key, ts) || (key.length === 1 && element !== null && isPrivate(element));
    if (isText) for (const each of typed) each.key = null;
    const entry = addKey(isText ? null : key);
    typed = [...typed, entry].filter((each) => each !== null && ts - each.ts < INPUT_MS) as ActionEntry[];
  });
  listen('scroll', (event) => {
    const synthetic = !event.isTrusted || now() - lastInputAt > INPUT_MS;
    const element = event.target instanceof Element ? event.target : null;
    const { scrollLeft, scrollTop } = element ?? document.scrollingElement ?? document.documentElement;
    add({ kind: 'scroll', synthetic, to_point: [Math.round(scrollLeft), Math.round(scrollTop)] }, element);
  });
  let size: [number, number] = [innerWidth, innerHeight];
  listen('resize', ({ isTrusted, target }) => {
    if (target !== window) return;
    const [point, to_point]: [typeof size, typeof size] = [size, [innerWidth, innerHeight]];
    size = to_point;
    add({ kind: 'resize', synthetic: !isTrusted, point, to_point });
  });
  listen(
    'visibilitychange',
    ({ isTrusted }) => {
      if (window === top)
        add({ kind: 'visibility', value_kind: document.visibilityState, synthetic: !isTrusted });
    },
    document,
  );
  listen('hashchange', () => checkAddress());
  listen<PageTransitionEvent>('pageshow', ({ persisted }) => persisted && addNavigation('back'));
  // Firefox before 147 has no navigation API: the next action notices the new address, or that it is an older one
  listen('popstate', () => checkAddress(now() - lastInputAt > INPUT_MS ? 'back' : null));
  watchTraversals((how) => (how ? addNavigation(how) : checkAddress()));
  checkAddress(readArrival());

  let frames: string[] | null = null;
  return {
    read(options) {
      checkAddress();
      hovers.flush(null, addHover);
      const { entries, dropped } = log.read(options);
      if (window === top || entries.length === 0) return { entries, dropped };
      const frame_path = (frames ??= describeFrames());
      return { entries: entries.map((each) => ({ ...each, frame_path })), dropped };
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

/** Where a key is pressed: what the key does there. */
function findKeyPlace(element: Element | null): KeyPlace {
  if (element === null) return 'page';
  // letters choose in lists, so they would say what was chosen
  if ((isField(element) && !isTextField(element)) || matchesSelector(element, LISTS)) return 'reacting field';
  if (isEditable(element) || isField(element) || closestOf(element, EDITORS) !== null)
    return matchesSelector(element, REACTING) || measureText(element).isEmpty ? 'reacting field' : 'field';
  return matchesSelector(element, CONTROLS) ? 'control' : 'page';
}

/** The field that an event is about. In an editor, the whole of it. */
function fieldOf(event: Event): Element | null {
  const innermost = targetOf(event);
  return innermost && (closestOf(innermost, FIELDS) ?? innermost);
}
