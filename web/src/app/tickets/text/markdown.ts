import MarkdownIt from 'markdown-it';

const TASK = /^\[([ xX])\] /;
const OWN_PICTURE = /^\/api\/v1\/assets\/asset_[0-9a-z]+\/content$/;

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true });
const { escapeHtml } = markdown.utils;

// Web and mail addresses and places here, that are whole; no script, no data, no programs of the reader's machine.
markdown.validateLink = (url) =>
  (/^(https?:|mailto:)/i.test(url.trim()) || !/^[^/?#]*:/.test(url.trim())) &&
  URL.canParse(url, location.href);

markdown.renderer.rules.link_open = (tokens, place, options, _env, self) => {
  const token = tokens[place]!;
  const href = String(token.attrGet('href') ?? '');
  token.attrSet('rel', 'noopener nofollow');
  if (new URL(href, location.href).origin !== location.origin) token.attrSet('target', '_blank');
  return self.renderToken(tokens, place, options);
};

// A picture of another host would tell that host who reads here, and when: it becomes a link.
markdown.renderer.rules.image = (tokens, place) => {
  const token = tokens[place]!;
  const src = String(token.attrGet('src') ?? '');
  const alt = escapeHtml(token.content || src);
  if (OWN_PICTURE.test(src)) return `<img src="${escapeHtml(src)}" alt="${alt}" loading="lazy">`;
  return `<a href="${escapeHtml(src)}" rel="noopener nofollow" target="_blank">${alt}</a>`;
};

// Task lists (GitHub Flavored Markdown, "Task list items"): the box knows the line of the source that it is on.
markdown.core.ruler.after('inline', 'tasks', (state) => {
  const { tokens } = state;
  for (let place = 2; place < tokens.length; place++) {
    const [item, paragraph, inline] = tokens.slice(place - 2, place + 1) as [
      MarkdownToken,
      MarkdownToken,
      MarkdownToken,
    ];
    const first = inline.children?.[0];
    const task = inline.type === 'inline' && first?.type === 'text' && TASK.exec(first.content);
    if (item.type !== 'list_item_open' || paragraph.type !== 'paragraph_open' || !first || !task) continue;
    first.content = first.content.slice(task[0].length);
    item.attrJoin('class', 'task');
    const box = new state.Token('task', '', 0);
    box.meta = { line: inline.map![0], done: task[1] !== ' ', words: inline.content.slice(task[0].length) };
    inline.children!.unshift(box);
  }
});
type MarkdownToken = ReturnType<typeof markdown.parse>[number];

markdown.renderer.rules['task'] = (tokens, place, _options, env) => {
  const { line, done, words } = tokens[place]!.meta as { line: number; done: boolean; words: string };
  const off = env?.['tasks'] ? '' : ' disabled';
  const name = escapeHtml(words.trim() || 'Task');
  return `<input type="checkbox" data-line="${line}" aria-label="${name}"${done ? ' checked' : ''}${off}> `;
};

// Wide things scroll by themselves, and whoever has no pointer can reach them.
markdown.renderer.rules.table_open = () =>
  '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>';
markdown.renderer.rules.table_close = () => '</table></div>';

/** HTML that holds no script, no style and nothing of another host. `tasks`: whether boxes can be ticked. */
export function render(source: string, { tasks = false } = {}): string {
  return markdown.render(source, { tasks });
}

/** What the source says, on one line, without its signs. */
export function words(source: string): string {
  return markdown
    .parse(source, {})
    .flatMap(({ type, content, children }) =>
      type === 'inline' ? children!.map(wordsOf).join('') : WHOLE.has(type) ? content : [],
    )
    .map((text) => text.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
    .join(' ');
}
const WHOLE = new Set(['fence', 'code_block']);

function wordsOf({ type, content }: MarkdownToken): string {
  return type === 'softbreak' || type === 'hardbreak' ? ' ' : content;
}

/** The source with the box on a line ticked, or not. */
export function tick(source: string, line: number, done: boolean): string {
  const lines = source.split('\n');
  lines[line] = (lines[line] ?? '').replace(/\[[ xX]\]/, done ? '[x]' : '[ ]');
  return lines.join('\n');
}
