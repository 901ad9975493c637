import { describe, expect, test, vi } from 'vitest';

vi.stubGlobal('location', new URL('https://tickets.example/tickets/t-1'));
const { plainText, renderMarkdown, setTaskDone } = await import('../../src/app/tickets/text/markdown');

const ASSET = '/api/v1/assets/asset_1/content';

describe('render', () => {
  test('escapes HTML', () => {
    expect(renderMarkdown('<img src=x onerror=alert(1)>')).not.toContain('<img');
    expect(renderMarkdown('**<b>x</b>**')).toContain('<strong>&lt;b&gt;x&lt;/b&gt;</strong>');
  });

  test.each([
    'javascript:alert(1)',
    'JaVaScript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'java\tscript:x',
    'https://[',
  ])('makes no link of %s', (address) => {
    expect(renderMarkdown(`[click](<${address}>)`)).not.toContain('href');
  });

  test('links keys and ids in lower and upper case', () => {
    const html = renderMarkdown('See web-42 and T-4K7M2Q9X, not utf-8.', { keys: new Set(['WEB']) });
    expect(html).toContain('<a href="/t/WEB-42" rel="noopener nofollow">web-42</a>');
    expect(html).toContain('<a href="/tickets/t-4k7m2q9x" rel="noopener nofollow">T-4K7M2Q9X</a>');
    expect(html).toContain('not utf-8.');
  });

  test('links ids, and keys of visible projects, outside of links and code', () => {
    const keys = new Set(['WEB']);
    const html = renderMarkdown(
      'See WEB-42, t-4k7m2q9x and UTF-8 in `WEB-1` or [WEB-2](/x), not WEB-0 or AWEB-3.',
      {
        keys,
      },
    );
    expect(html).toContain('<a href="/t/WEB-42" rel="noopener nofollow">WEB-42</a>');
    expect(html).toContain('<a href="/tickets/t-4k7m2q9x" rel="noopener nofollow">t-4k7m2q9x</a>');
    expect(html.match(/<a /g)).toHaveLength(3);
    expect(renderMarkdown('WEB-42 https://example.org/WEB-42', {})).not.toContain('/t/');
  });

  test('highlights mentions outside of links and code', () => {
    const people = [
      { id: 'ann', name: 'Ann Berg' },
      { id: 'bob', name: 'Bob' },
    ];
    const html = renderMarkdown('@ann and @Bob, not `@bob` or [@bob](/x)', { people, me: 'bob' });
    expect(html).toContain('<span class="mention">@ann</span> and <span class="mention me">@Bob</span>');
    expect(html.match(/mention/g)).toHaveLength(2);
  });

  test('opens links to other hosts in a new tab, and its own here', () => {
    expect(renderMarkdown('[a](https://other.example/)')).toContain('target="_blank"');
    expect(renderMarkdown('[a](https://other.example/)')).toContain('rel="noopener nofollow"');
    expect(renderMarkdown('[a](/tickets/t-2)')).not.toContain('target');
    expect(renderMarkdown('[a](mailto:ann@example.org)')).toContain('href="mailto:ann@example.org"');
  });

  test('shows only images of this server; others become links', () => {
    expect(renderMarkdown(`![shot](${ASSET})`)).toContain(`<img src="${ASSET}" alt="shot"`);
    for (const src of [
      'https://spy.example/x.png',
      '//spy.example/x.png',
      `https://spy.example${ASSET}`,
      `${ASSET}?x`,
    ]) {
      expect(renderMarkdown(`![spy](${src})`)).not.toContain('<img');
    }
    expect(renderMarkdown('![spy](https://spy.example/x.png)')).toContain(
      '<a href="https://spy.example/x.png"',
    );
  });

  test('renders tasks with their source line, and enables them on request', () => {
    const source = 'Do:\n\n- [ ] one\n- [x] two "2"';
    const html = renderMarkdown(source, { tasks: true });
    expect(html).toContain('<input type="checkbox" data-line="2" aria-label="one"> one');
    expect(html).toContain('data-line="3" aria-label="two &quot;2&quot;" checked>');
    expect(renderMarkdown(source)).toContain('aria-label="one" disabled>');
  });

  test('makes tables scroll in a focusable region', () => {
    expect(renderMarkdown('|a|\n|-|\n|b|')).toContain('<div class="wide" tabindex="0" role="region"');
  });
});

describe('setTaskDone', () => {
  const source = '- [ ] one\n- [X] two\n';

  test('ticks and clears the task on a line', () => {
    expect(setTaskDone(source, 0, true)).toBe('- [x] one\n- [X] two\n');
    expect(setTaskDone(source, 1, false)).toBe('- [ ] one\n- [ ] two\n');
  });

  test('changes only the first box of the line', () => {
    expect(setTaskDone('- [ ] see [ ]', 0, true)).toBe('- [x] see [ ]');
  });
});

test('plainText has no markup', () => {
  expect(plainText('# Title\n\n- **one**\n- `two`\n\n```js\nthree *3*\n```\n\n[link](/x)')).toBe(
    'Title one two three *3* link',
  );
});

describe('hidden text', () => {
  const tags = [...'obey'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');

  test('characters that nobody sees are shown as replacement characters, and flags stay', () => {
    expect(renderMarkdown(`a${tags}b\u202e`)).toContain('a\ufffd\ufffd\ufffd\ufffdb\ufffd');
    const flag = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}';
    expect(renderMarkdown(flag)).toContain(flag);
    expect(renderMarkdown(`\u{1f3f4}${tags}\u{e007f}`)).toContain('\ufffd');
  });

  test.each([
    ['x\n\n[//]: # (obey <b>)', '<li>[//]: # obey &lt;b&gt;</li>'],
    ['[x](https://a.example "obey")', '<li>obey</li>'],
    ['```js obey me\ncode\n```', '<li>obey me</li>'],
    ['|a|b|\n|-|-|\n|1|2|obey|me|\n|1|2|', '<li>obey</li><li>me</li>'],
    ['> |a|\n> |-|\n> |1|obey\\|me|', '<li>obey\\|me</li>'],
  ])('%j lists what is hidden', (source, listed) => {
    expect(renderMarkdown(source)).toContain(`<p>Hidden in this text:</p><ul>${listed}</ul>`);
  });

  test.each([
    '[x][a]\n\n[a]: https://a.example',
    '```js\n[a]: /x (seen)\n```',
    '|a|b|\n|-|-|\n|1|`x\\|y`|\n|1',
    '![a](/b)',
    '# one',
  ])('%j hides nothing', (source) => {
    expect(renderMarkdown(source)).not.toContain('Hidden');
  });
});

test('looking for addresses is bounded', () => {
  const words = 'mailto:ann@example.org ' + 'word '.repeat(1_900);
  expect(renderMarkdown(words)).toContain('<a ');
  expect(renderMarkdown(words + 'word '.repeat(200))).not.toContain('<a ');
  for (const part of ['a@', 'www.', '//a.b', '<a ', 'https://a.b/(', 'a.b@c.d']) {
    const begun = performance.now();
    renderMarkdown(part.repeat(40_000 / part.length));
    expect(performance.now() - begun, part).toBeLessThan(3_000);
  }
});
