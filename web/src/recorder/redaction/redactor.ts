/** Redacts a whole capture before any of it is stored or shown (docs/use/captures.md, "Redaction"). */
import type {
  ActionEntry,
  ActionTarget,
  Environment,
  Expectation,
  Frame,
  NetworkEntry,
  PageFacts,
  RedactionCounts,
  Streams,
} from '../capture-types';
import { MAX_MESSAGE } from '../network/bodies';
import { isSecretArgument } from './pairs';
import { SecretScanner } from './secret-scanner';
import { isSafeHeader, REMOVED_HEADERS } from './secret-names';
import { REDACTED } from './secret-values';
import type { StoredAtStart } from '../environment/storage-names';
import { StorageShaper, type StoredValues } from './storage-shape';

const MAX_LINE = 4_096;
const MAX_URL = 65_536;
const MAX_NAME = 200;
const MAX_SCRIPT_URL = 1_000;
const MAX_CLEAN_TEXTS = 10_000;
const MAX_LABEL = 100;
const PLACEHOLDER = /%[sdifoOj]/;
const LAST_WORDS = /(?:[A-Za-z0-9_.-]{2,40} )?[A-Za-z0-9_.-]{2,40} ?[=:]?[ "']{0,2}$/;
const QUOTED = /"((?:[^"\\]|\\.?)*)(?:"|$)/s;

/** Redacts the secrets of one capture and counts them. Entries are changed in place. `extra`: the project's rules. */
export class Redactor {
  readonly counts: RedactionCounts = { headers: 0, query: 0, keys: 0, patterns: 0, extra: 0 };
  readonly #scanner: SecretScanner;
  readonly #extra: readonly string[];
  /** Short texts that hold no secret; many of them are repeated. */
  readonly #cleanTexts = new Set<string>();

  constructor(extra: readonly string[] = []) {
    this.#scanner = new SecretScanner(extra);
    this.#extra = extra;
  }

  redactText(text: string, limit = 262_144): string {
    if (this.#cleanTexts.has(text)) return text;
    const clean = this.#scanner.redact(text, this.counts);
    if (clean === text && text.length <= 512) {
      if (this.#cleanTexts.size === MAX_CLEAN_TEXTS) this.#cleanTexts.clear();
      this.#cleanTexts.add(text);
    }
    return clean.slice(0, limit);
  }

  /** Redact a text that others may name: the text before it on a page, or among the arguments of a call. */
  redactAfter(labels: string[], text: string): string {
    const clean = this.redactText(text);
    if (!labels.some((label) => isSecretArgument(label, clean.trim()))) return clean;
    this.counts.keys += 1;
    return REDACTED;
  }

  redactPage(page: PageFacts): PageFacts {
    return {
      url: this.redactText(page.url, MAX_URL),
      title: this.redactText(page.title, MAX_LINE),
      referrer: this.#redactOptional(page.referrer, MAX_URL),
    };
  }

  redactEnvironment(environment: Environment): Environment {
    const { long_frames: frames, declared, storage, extension } = environment;
    const redactName = (name: string | undefined) => this.redactText(name ?? '', MAX_NAME);
    return {
      ...environment,
      browser: this.#redactOptional(environment.browser, MAX_LINE),
      os: this.#redactOptional(environment.os, MAX_LINE),
      language: this.#redactOptional(environment.language, MAX_LINE),
      timezone: this.#redactOptional(environment.timezone, MAX_LINE),
      release: this.#redactOptional(environment.release, MAX_LINE),
      ...(extension === undefined ? {} : { extension: redactName(extension) }),
      ...(frames && {
        long_frames: frames.map((frame) => ({
          ...frame,
          scripts: (frame.scripts ?? []).map((script) => ({
            ...script,
            url: this.redactText(script.url ?? '', MAX_SCRIPT_URL),
            function: redactName(script.function),
            invoker: redactName(script.invoker),
          })),
        })),
      }),
      ...(declared && {
        declared: Object.fromEntries(
          Object.entries(declared).map(([name, value]) => this.#redactDeclared(name, value)),
        ),
      }),
      ...(storage && {
        storage: {
          ...storage,
          local: (storage.local ?? []).map(redactName),
          session: (storage.session ?? []).map(redactName),
          cookies: (storage.cookies ?? []).map(redactName),
          ...(storage.start && { start: storage.start.map((each) => this.redactStored(each)) }),
        },
      }),
    };
  }

  /** Replace the values that a page has stored. Those whose name holds a secret aren't kept. */
  redactStored({ document, local = {}, session = {}, cookies = [] }: StoredAtStart): StoredAtStart {
    const shaper = new StorageShaper(Date.now(), this.#extra);
    const replace = (values: StoredValues) =>
      Object.fromEntries(
        Object.entries(values).map(([name, value]) => {
          const clean = this.redactText(name, MAX_NAME);
          return [clean, clean === name && value !== null ? shaper.shape(name, value) : null];
        }),
      );
    return {
      document,
      local: replace(local),
      session: replace(session),
      cookies: cookies.map((each) => this.redactText(each, MAX_NAME)),
    };
  }

  redactStreams({ console, network, errors, actions }: Streams): void {
    for (const each of console) {
      each.args = this.#redactArguments(each.args);
      each.stack = this.#redactOptional(each.stack);
      each.source = this.#redactOptional(each.source, MAX_URL);
      each.frame = this.#redactOptional(each.frame, MAX_URL);
      this.#redactFrames(each.frames);
    }
    for (const each of network) this.#redactRequest(each);
    for (const each of actions) this.#redactAction(each);
    for (const each of errors) {
      each.name = this.redactText(each.name ?? '', MAX_LINE);
      each.message = this.redactText(each.message);
      each.stack = this.#redactOptional(each.stack);
      each.source = this.#redactOptional(each.source, MAX_URL);
      each.frame = this.#redactOptional(each.frame, MAX_URL);
      this.#redactFrames(each.frames);
    }
  }

  #redactFrames(frames: Frame[] | undefined): void {
    for (const frame of frames ?? []) {
      frame.url = this.redactText(frame.url, MAX_URL);
      frame.function = this.#redactOptional(frame.function, MAX_LINE);
      const { original } = frame;
      if (original)
        frame.original = {
          ...original,
          file: this.redactText(original.file, MAX_LINE),
          context: (original.context ?? []).map((line) => this.redactText(line, MAX_LINE)),
        };
    }
  }

  /** Redact a name and its value as a member of a JSON object, which the rules for keys recognise. */
  #redactDeclared(name: string, value: string): [string, string] {
    const member = this.redactText(JSON.stringify({ [name]: value }));
    try {
      const [[cleanName, clean]] = Object.entries(JSON.parse(member) as object) as [[string, unknown]];
      if (typeof clean === 'string') return [cleanName.slice(0, MAX_NAME), clean.slice(0, MAX_NAME)];
    } catch {
      // a rule cut more than the value
    }
    return [this.redactText(name, MAX_NAME), REDACTED];
  }

  #redactAction(entry: ActionEntry): void {
    const { field, frame_path: frames, target, to } = entry;
    entry.url = this.#redactOptional(entry.url, MAX_URL);
    entry.frame = this.#redactOptional(entry.frame, MAX_URL);
    for (const each of [target, to]) if (each) this.#redactTarget(each);
    if (frames) entry.frame_path = frames.map((each) => this.#redactLocator(each));
    for (const [name, rule] of Object.entries(field ?? {}))
      if (typeof rule === 'string') Object.assign(field!, { [name]: this.redactText(rule, MAX_NAME) });
  }

  #redactTarget(target: ActionTarget): void {
    target.role = this.#redactOptional(target.role, MAX_LINE);
    target.name = this.#redactOptional(target.name, MAX_LINE);
    target.test_id = this.#redactOptional(target.test_id, MAX_LINE);
    target.text = this.#redactOptional(target.text, MAX_LINE);
    target.selectors = (target.selectors ?? []).map((each) => this.#redactLocator(each));
  }

  redactExpectation(expectation: Expectation): Expectation {
    const copy = structuredClone(expectation);
    for (const each of [copy.target, copy.other]) if (each) this.#redactTarget(each);
    if (copy.frame_path) copy.frame_path = copy.frame_path.map((each) => this.#redactLocator(each));
    copy.frame = this.#redactOptional(copy.frame, MAX_URL);
    copy.seen = this.#redactOptional(copy.seen, MAX_LINE);
    copy.right = this.#redactOptional(copy.right, MAX_LINE);
    return copy;
  }

  #redactRequest(entry: NetworkEntry): void {
    entry.url = this.redactText(entry.url, MAX_URL);
    entry.method = this.redactText(entry.method, 32);
    entry.status_text = this.redactText(entry.status_text ?? '', MAX_LINE);
    entry.initiator = this.#redactOptional(entry.initiator, MAX_URL);
    entry.error = this.#redactOptional(entry.error, MAX_LINE);
    entry.frame = this.#redactOptional(entry.frame, MAX_URL);
    for (const redirect of entry.redirects ?? []) redirect.url = this.redactText(redirect.url, MAX_URL);
    for (const side of [entry.request, entry.response]) {
      if (!side) continue;
      side.headers = this.#redactHeaders(side.headers ?? {});
      side.body = this.#redactOptional(side.body, 65_536);
    }
    for (const message of entry.messages ?? []) {
      message.body = this.#redactOptional(message.body, MAX_MESSAGE);
      if (message.event !== undefined) message.event = this.redactText(message.event, MAX_NAME);
    }
    if (entry.response) entry.response.mime = this.#redactOptional(entry.response.mime, MAX_LINE);
  }

  #redactHeaders(headers: { [name: string]: string }): { [name: string]: string } {
    const result = Object.create(null) as { [name: string]: string };
    for (const [name, value] of Object.entries(headers)) {
      const key = name.trim().toLowerCase();
      if (REMOVED_HEADERS.has(key)) this.counts.headers += 1;
      else if (isSafeHeader(key)) result[this.redactText(name, 256)] = this.redactText(value, 16_384);
      else {
        if (value !== '' && value !== REDACTED) this.counts.headers += 1;
        result[this.redactText(name, 256)] = value && REDACTED;
      }
    }
    return result;
  }

  /** Redact the texts in a locator; the rest is structure, in which only known formats are secrets. */
  #redactLocator(locator: string): string {
    return locator
      .split(QUOTED)
      .map((part, index) =>
        index % 2 ? `"${this.redactText(part, MAX_LINE)}"` : this.#scanner.redact(part, this.counts, false),
      )
      .join('')
      .slice(0, MAX_LINE);
  }

  /** What a console call printed: `console.log('token: %s', value)` names its secret before it. */
  #redactArguments(values: string[]): string[] {
    const labels = ['', ...values].map((each) => [each]);
    const parts = (values[0] ?? '').split(PLACEHOLDER).slice(0, -1);
    parts.forEach((part, index) => {
      const words = LAST_WORDS.exec(part.slice(-MAX_LABEL));
      if (words) labels[index + 1]?.push(words[0]);
    });
    return values.map((value, index) => this.redactAfter(labels[index]!, value));
  }

  #redactOptional(text: string | null | undefined, limit?: number): string | null {
    return text == null ? null : this.redactText(text, limit);
  }
}
