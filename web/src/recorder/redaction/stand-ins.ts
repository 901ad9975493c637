/**
 * Expectations where bodies have stand-ins: the test shows these in place of what the person saw. The server shapes the
 * bodies that it gets once more, so a value becomes the stand-in of its stand-in.
 */
import type { ActionTarget, Expectation, NetworkEntry } from '../capture-types';
import { listPayloads } from '../network/payloads';
import { BodyShaper, listFigures, shapeBodies } from './body-shape';

const NUMBER = /\d+(?:[.,\u00a0\u202f’']\d+)*/g;
const PLAIN_NUMBER = /^-?\d+(?:\.\d+)?$/;
const SHORTEST_TEXT = 3;
/** Of the answers of a capture that keep their numbers, as the server accepts them. */
const MAX_KEPT = 200;
/** As much of a text is in a locator (pointing/compose.ts). */
const MAX_OWN_TEXT = 80;

/** A text with stand-ins, and the numbers in it that no answer has: the page computed them, or they are its own. */
interface ExchangedText {
  text: string;
  computed: string[];
}

/** What the values in the bodies of a capture become. */
export class StandIns {
  readonly #values = new Map<string, string>();
  readonly #numbers = new Map<number, number>();

  /** `keepsNumbers`: the page computes what it computed in the capture. */
  constructor(
    values: Iterable<[value: string, standIn: string]>,
    readonly keepsNumbers = false,
  ) {
    for (const [value, standIn] of values) {
      this.#values.set(value, standIn);
      if (PLAIN_NUMBER.test(value) && PLAIN_NUMBER.test(standIn))
        this.#numbers.set(Number(value), Number(standIn));
    }
  }

  exchange(text: string): ExchangedText {
    const known = this.#values.get(text);
    if (known !== undefined) return { text: known, computed: [] };
    const computed: string[] = [];
    const parts: string[] = [text];
    const texts = [...this.#values.keys()]
      .filter((each) => each.length >= SHORTEST_TEXT && /\p{L}/u.test(each) && text.includes(each))
      .sort((one, other) => other.length - one.length);
    // each second part is exchanged already
    for (const each of texts)
      for (let index = 0; index < parts.length; index += 2) {
        const place = findWord(parts[index]!, each);
        if (place < 0) continue;
        const [before, after] = [parts[index]!.slice(0, place), parts[index]!.slice(place + each.length)];
        parts.splice(index, 1, before, this.#values.get(each)!, after);
      }
    const exchangeNumber = (number: string) => {
      const standIn = this.#exchangeNumber(number);
      if (standIn === undefined) computed.push(number);
      return standIn ?? number;
    };
    const written = parts.map((part, index) => (index % 2 ? part : part.replace(NUMBER, exchangeNumber)));
    // without numbers in the answers, nothing can be computed from them
    const isKnown = this.keepsNumbers || !this.#numbers.size;
    return { text: written.join(''), computed: isKnown ? [] : computed };
  }

  /** Write the stand-in of a number as the page wrote the number; an answer may have it in hundredths. */
  #exchangeNumber(written: string): string | undefined {
    const decimals = /[.,](\d{1,2})$/.exec(written);
    const digits = written.replace(/\D/g, '');
    const places = decimals?.[1]!.length ?? 0;
    const value = Number(digits) / 10 ** places;
    const direct = this.#numbers.get(value);
    const inHundredths = places === 2 ? this.#numbers.get(Number(digits)) : undefined;
    const standIn = direct ?? (inHundredths === undefined ? undefined : inHundredths / 100);
    if (standIn === undefined) return undefined;
    const [whole = '', rest] = standIn.toFixed(places).split('.');
    const group = /\d([.,\u00a0\u202f’'])\d{3}/.exec(written)?.[1];
    const grouped = group ? groupDigits(whole, group) : whole;
    return rest ? `${grouped}${decimals![0][0]}${rest}` : grouped;
  }
}

function groupDigits(whole: string, sign: string): string {
  const groups: string[] = [];
  for (let end = whole.length; end > 0; end -= 3) groups.unshift(whole.slice(Math.max(0, end - 3), end));
  return groups.join(sign);
}

/** Where a text is in another one as whole words; -1 if it isn't. */
function findWord(text: string, word: string): number {
  const isPart = (each: string | undefined) => each !== undefined && /[\p{L}\p{N}]/u.test(each);
  for (let place = text.indexOf(word); place >= 0; place = text.indexOf(word, place + 1))
    if (!isPart(text[place - 1]) && !isPart(text[place + word.length])) return place;
  return -1;
}

/**
 * Replace the values in the bodies of a capture, in place, but the numbers in the answers with the ids in `kept`. Returns
 * what they become on the server.
 */
export function shapeWithStandIns(entries: NetworkEntry[], kept: readonly string[] = []): StandIns {
  const first = shapeBodies(entries, kept);
  const second = new BodyShaper();
  const bodies = entries.flatMap(listPayloads).flatMap((side) => side?.body ?? []);
  for (const { url } of entries) second.keepAddress(url);
  for (const each of bodies) second.count(each);
  for (const { response } of entries.filter(({ id }) => kept.includes(id)))
    if (response?.body != null) second.keepNumbers(response.body);
  for (const each of bodies) second.shape(each);
  const next = new Map(second.listStandIns());
  return new StandIns(
    first.listStandIns().map(([value, standIn]) => [value, next.get(standIn) ?? standIn] as const),
    kept.length > 0,
  );
}

/** An answer with numbers from which the page may have computed others. */
export interface Figures {
  id: string;
  /** Method and path. */
  name: string;
  numbers: string[];
}

/** The answers with numbers that came before a time, in epoch milliseconds; newest first. */
export function listNumbers(entries: NetworkEntry[], before: number): Figures[] {
  return entries
    .filter(({ ts, duration_ms: duration }) => ts + (duration ?? 0) <= before)
    .map(({ id, method, url, response }) => ({
      id,
      name: `${method} ${URL.canParse(url) ? new URL(url).pathname : url}`,
      numbers: listFigures(response?.body ?? ''),
    }))
    .filter(({ numbers }) => numbers.length > 0)
    .slice(-MAX_KEPT)
    .reverse();
}

/** The numbers of an expectation that no answer has: with stand-ins, the test can't know what the page computes. */
export function listComputed({ is, seen, right }: Expectation, standIns: StandIns): string[] {
  const texts = is === 'text' || is === 'value' ? [seen, right] : [];
  return texts.flatMap((each) => (each == null ? [] : standIns.exchange(each).computed));
}

/**
 * An expectation as the test will see it. Where what is right can't be known with stand-ins, only what is wrong stays:
 * anything else is right.
 */
export function exchangeExpectation(expectation: Expectation, standIns: StandIns): Expectation {
  const { seen, right, target } = expectation;
  if (expectation.is === 'checked') return expectation;
  const exchange = (text: string | null | undefined) => (text == null ? null : standIns.exchange(text));
  const [wrong, correct] = [exchange(seen), exchange(right)];
  const isAffected = wrong !== null && wrong.text !== seen;
  const isKnown =
    correct !== null && correct.text !== wrong?.text && !(isAffected && correct.computed.length);
  const isChanged = isAffected || (isKnown && correct.text !== right);
  if (!isChanged) return expectation;
  return {
    ...expectation,
    ...(expectation.is === 'absent' && target && { target: exchangeTarget(target, seen!, wrong!.text) }),
    seen: wrong?.text ?? null,
    right: isKnown ? correct.text : null,
    shown: { seen: seen ?? null, right: isKnown ? (right ?? null) : null },
  };
}

/** What should not be there is found by its text. */
function exchangeTarget(target: ActionTarget, own: string, standIn: string): ActionTarget {
  const [before, after] = [own, standIn].map((each) => JSON.stringify(each.slice(0, MAX_OWN_TEXT)));
  const selectors = (target.selectors ?? []).map((each) => each.replaceAll(before!, () => after!));
  return { ...target, selectors };
}
