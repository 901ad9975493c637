import MarkdownIt from 'markdown-it';
import { withBase } from '../../core/navigation/base';
import { findMentions, type MentionTarget } from './mentions';

const TASK = /^\[([ xX])\] /;
const OWN_IMAGE = /^\/api\/v1\/assets\/asset_[0-9a-z]+\/content$/;

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true });
const { escapeHtml } = markdown.utils;

// Allow valid web, mail and relative addresses. No script or data URLs, no other schemes.
markdown.validateLink = (url) =>
  (/^(https?:|mailto:)/i.test(url.trim()) || !/^[^/?#]*:/.test(url.trim())) &&
  URL.canParse(url, location.href);

markdown.renderer.rules.link_open = (tokens, index, options, _env, self) => {
  const token = tokens[index]!;
  const href = String(token.attrGet('href') ?? '');
  token.attrSet('rel', 'noopener nofollow');
  token.attrSet('href', toHref(href));
  if (new URL(href, location.href).origin !== location.origin) token.attrSet('target', '_blank');
  return self.renderToken(tokens, index, options);
};

/** Texts have paths of this server as they are at its root, such as `/tickets/t-4k7m2q9x`. */
function toHref(address: string): string {
  return /^\/(?![/\\])/.test(address) ? withBase(address) : address;
}

// Looking for addresses in a long paragraph takes long, and so does each of many addresses without spaces between them.
const MAX_LINKIFIED = 10_000;
const MAX_ADDRESS = 2_000;
const { linkify } = markdown;
const hasLinks = linkify.test.bind(linkify);
const matchAtStart = linkify.matchAtStart.bind(linkify);
linkify.test = (text) => text.length <= MAX_LINKIFIED && hasLinks(text);
linkify.matchAtStart = (text) => matchAtStart(text.slice(0, MAX_ADDRESS));

// An image from another host would report readers to that host: show a link instead.
markdown.renderer.rules.image = (tokens, index) => {
  const token = tokens[index]!;
  const src = String(token.attrGet('src') ?? '');
  const alt = escapeHtml(token.content || src);
  if (OWN_IMAGE.test(src)) return `<img src="${escapeHtml(withBase(src))}" alt="${alt}" loading="lazy">`;
  return `<a href="${escapeHtml(toHref(src))}" rel="noopener nofollow" target="_blank">${alt}</a>`;
};

// Task lists (GitHub Flavored Markdown, "Task list items"). Each checkbox has the number of its source line.
markdown.core.ruler.after('inline', 'tasks', (state) => {
  const { tokens } = state;
  for (let index = 2; index < tokens.length; index++) {
    const [item, paragraph, inline] = tokens.slice(index - 2, index + 1) as [
      MarkdownToken,
      MarkdownToken,
      MarkdownToken,
    ];
    const first = inline.children?.[0];
    const task = inline.type === 'inline' && first?.type === 'text' && TASK.exec(first.content);
    if (item.type !== 'list_item_open' || paragraph.type !== 'paragraph_open' || !first || !task) continue;
    first.content = first.content.slice(task[0].length);
    item.attrJoin('class', 'task');
    const checkbox = new state.Token('task', '', 0);
    checkbox.meta = {
      line: inline.map![0],
      done: task[1] !== ' ',
      text: inline.content.slice(task[0].length),
    };
    inline.children!.unshift(checkbox);
  }
});
type MarkdownToken = ReturnType<typeof markdown.parse>[number];

markdown.renderer.rules['task'] = (tokens, index, _options, env) => {
  const { line, done, text } = tokens[index]!.meta as { line: number; done: boolean; text: string };
  const off = env?.['tasks'] ? '' : ' disabled';
  const name = escapeHtml(text.trim() || 'Task');
  return `<input type="checkbox" data-line="${line}" aria-label="${name}"${done ? ' checked' : ''}${off}> `;
};

// An `@` after a backslash stays apart from the text around it, so that it begins no mention.
markdown.core.ruler.before('text_join', 'escapes', ({ tokens }) => {
  for (const { children } of tokens)
    for (const child of children ?? [])
      if (child.type === 'text_special' && /[@\uff20]/.test(child.content)) child.type = 'escaped';
});
markdown.renderer.rules['escaped'] = (tokens, index) => escapeHtml(tokens[index]!.content);

// Ids and keys of tickets become links, in upper or lower case, and mentions are highlighted. A key must begin with that
// of a project that the reader sees (`env.keys`).
const TICKET = /(?<![\w/.-])(?:(t-[0-9a-hjkmnp-tv-z]{8})|([A-Z0-9]{2,5})-[1-9]\d{0,8})(?![\w-])/gi;
markdown.core.ruler.push('references', (state) => {
  const env = state.env as RenderOptions;
  for (const { type, children } of state.tokens) {
    if (type !== 'inline' || !children) continue;
    let depth = 0;
    for (let index = 0; index < children.length; index++) {
      const token = children[index]!;
      if (token.type === 'link_open') depth += 1;
      else if (token.type === 'link_close') depth -= 1;
      else if (token.type === 'text' && depth === 0) {
        const parts = splitReferences(state, token, env);
        children.splice(index, 1, ...parts);
        index += parts.length - 1;
      }
    }
  }
});

/** Split a text at the tickets and people that it names. */
function splitReferences(
  state: Parameters<Parameters<typeof markdown.core.ruler.push>[1]>[0],
  token: MarkdownToken,
  { keys, people, me }: RenderOptions,
): MarkdownToken[] {
  const text = token.content.normalize();
  const tickets = [...text.matchAll(TICKET)].flatMap(({ 0: name, 1: id, 2: project, index }) => {
    if (!id && !keys?.has(project!.toUpperCase())) return [];
    const href = id ? `/tickets/${id.toLowerCase()}` : `/t/${name.toUpperCase()}`;
    return { start: index, end: index + name.length, tag: 'a', href };
  });
  const mentions = findMentions(text, people ?? []).map(({ ids, ...range }) => ({
    ...range,
    tag: 'span',
    class: me && ids.includes(me) ? 'mention me' : 'mention',
  }));
  const parts: MarkdownToken[] = [];
  let end = 0;
  const addText = (content: string) => {
    if (content) parts.push(Object.assign(new state.Token('text', '', 0), { content }));
  };
  for (const { start, end: stop, tag, ...attributes } of [...tickets, ...mentions].sort(
    (a, b) => a.start - b.start,
  )) {
    if (start < end) continue;
    addText(text.slice(end, start));
    const open = new state.Token(tag === 'a' ? 'link_open' : 'mention_open', tag, 1);
    for (const [name, value] of Object.entries(attributes)) open.attrSet(name, value);
    parts.push(open);
    addText(text.slice(start, stop));
    parts.push(new state.Token(tag === 'a' ? 'link_close' : 'mention_close', tag, -1));
    end = stop;
  }
  addText(text.slice(end));
  return parts;
}

// Each part of a text with Hebrew or Arabic letters has the direction of its first letter.
markdown.core.ruler.push('direction', ({ src, tokens }) => {
  if (!/[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(src))
    return;
  for (const token of tokens) if (token.nesting === 1 && token.level === 0) token.attrSet('dir', 'auto');
});

// Wide tables scroll in their own focusable region.
markdown.renderer.rules.table_open = () =>
  '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>';
markdown.renderer.rules.table_close = () => '</table></div>';

type RenderOptions = {
  /** Enables the checkboxes of task lists. */
  tasks?: boolean;
  /** The keys of the projects whose tickets become links. */
  keys?: ReadonlySet<string>;
  /** The people whose mentions are highlighted. */
  people?: readonly MentionTarget[];
  /** The reader's id. */
  me?: string;
};

/** Render Markdown as HTML without scripts, styles or content from other hosts. What Markdown hides is listed below. */
export function renderMarkdown(source: string, options: RenderOptions = {}): string {
  const env: RenderOptions & { references?: Record<string, { href: string; title: string }> } = {
    ...options,
  };
  const shown = source.replace(HIDDEN, (text) => (FLAGS.has(text) ? text : '\ufffd'));
  const tokens = markdown.parse(shown, env);
  const texts = [...listHidden(tokens, env.references ?? {}), ...listCutCells(tokens, shown)];
  const hidden = texts.map((text) => `<li>${escapeHtml(text)}</li>`);
  const list = hidden.length > 0 ? `<p>Hidden in this text:</p><ul>${hidden.join('')}</ul>` : '';
  return markdown.renderer.render(tokens, markdown.options, env) + list;
}

// Tags and bidirectional controls, with which a text can hide instructions for an agent. Tags are also parts of flags.
// ticketbox/domain/core/hidden_text.py removes them, and variation selectors, from what agents read.
const HIDDEN =
  /\u{1f3f4}[\u{e0061}-\u{e007a}]{5}\u{e007f}|[\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufff9-\ufffb\u{e0000}-\u{e00ff}]/gu;
const FLAGS = new Set(
  ['gbeng', 'gbsct', 'gbwls'].map(
    (region) =>
      `\u{1f3f4}${[...region].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')}\u{e007f}`,
  ),
);

/** What a text has and nobody sees: definitions of links that no link uses, titles, words after a code block's language. */
function listHidden(
  tokens: MarkdownToken[],
  references: Record<string, { href: string; title: string }>,
): string[] {
  const links = tokens
    .flatMap(({ children }) => children ?? [])
    .filter(({ type }) => type === 'link_open' || type === 'image');
  const addresses = new Set(links.map((link) => link.attrGet('href') ?? link.attrGet('src')));
  return [
    ...Object.entries(references)
      .filter(([, { href }]) => !addresses.has(href))
      .map(([label, { href, title }]) => `[${label}]: ${href} ${title}`.trim()),
    ...links.map((link) => String(link.attrGet('title') ?? '')),
    ...tokens.filter(({ type }) => type === 'fence').map(({ info }) => info.trim().replace(/^\S+\s*/, '')),
  ].filter(Boolean);
}

/** The cells of tables' rows beyond those of the header. */
function listCutCells(tokens: MarkdownToken[], source: string): string[] {
  const header = tokens.findIndex(({ type }) => type === 'table_open');
  if (header < 0) return [];
  const lines = source.split(/\r\n?|\n/);
  let columns = 0;
  return tokens.flatMap(({ type, map }) => {
    if (type === 'thead_open') columns = 0;
    else if (type === 'th_open') columns += 1;
    if (type !== 'tr_open' || columns === 0) return [];
    const cells = lines[map![0]]!.trim()
      .replace(/^[>\s]*\|/, '')
      .split(/(?<!\\)\|/);
    return cells.slice(columns).flatMap((cell) => cell.trim() || []);
  });
}

/** The text of a Markdown source on one line, without markup. */
export function plainText(source: string): string {
  return markdown
    .parse(source, {})
    .flatMap(({ type, content, children }) =>
      type === 'inline' ? children!.map(inlineText).join('') : CODE_BLOCKS.has(type) ? content : [],
    )
    .map((text) => text.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
    .join(' ');
}
const CODE_BLOCKS = new Set(['fence', 'code_block']);

function inlineText({ type, content }: MarkdownToken): string {
  return type === 'softbreak' || type === 'hardbreak' ? ' ' : content;
}

/** Return the source with the task on a line ticked or cleared. */
export function setTaskDone(source: string, line: number, done: boolean): string {
  const lines = source.split('\n');
  lines[line] = (lines[line] ?? '').replace(/\[[ xX]\]/, done ? '[x]' : '[ ]');
  return lines.join('\n');
}
