import { expect, test } from 'vitest';
import { PageModel } from '../../../src/extension/key-frames/page-model';
import { writeSvg } from '../../../src/extension/key-frames/write-svg';

let time = 0;
const event = (type: number, data: object) => ({ type, data, timestamp: ++time });
const change = (source: number, data: object) => event(3, { source, ...data });
const mutate = (data: object) => change(0, { adds: [], removes: [], texts: [], attributes: [], ...data });
const text = (id: number, textContent: string) => ({ type: 3, id, textContent });
const element = (id: number, tagName: string, childNodes: object[] = [], attributes: object = {}) => ({
  type: 2,
  id,
  tagName,
  attributes,
  childNodes,
});

function open(body: object[], head: object[] = [], attributes: object = {}): PageModel {
  const html = element(3, 'html', [element(4, 'head', head), element(5, 'body', body)], attributes);
  const page = new PageModel();
  page.apply(event(4, { href: 'https://shop.example', width: 800, height: 600 }));
  page.apply(event(2, { node: { type: 0, id: 1, childNodes: [html] }, initialOffset: { left: 0, top: 0 } }));
  return page;
}

const bodyOf = (page: PageModel) =>
  /<body[^>]*>(.*)<\/html>/s.exec(writeSvg(page)!)![1]!.replace('</body>', '');

test('nodes are added, changed and removed, in whichever order they are listed', () => {
  const page = open([element(6, 'p', [text(7, 'one')])]);
  page.apply(
    mutate({
      adds: [
        { parentId: 5, nextId: 9, node: element(8, 'b') },
        { parentId: 5, nextId: 6, node: element(9, 'i') },
        { parentId: 99, nextId: null, node: element(10, 'u') },
      ],
      texts: [{ id: 7, value: 'two & <three>' }],
    }),
  );
  expect(bodyOf(page)).toBe('<b></b><i></i><p>two &amp; &lt;three&gt;</p>');
  page.apply(mutate({ removes: [{ parentId: 5, id: 6 }] }));
  page.apply(mutate({ texts: [{ id: 7, value: 'gone' }] }));
  expect(bodyOf(page)).toBe('<b></b><i></i>');
});

test('attributes and styles change', () => {
  const page = open([element(6, 'p', [], { class: 'a', style: 'color: red; top: 1px' })]);
  const attributes = { class: null, hidden: '', style: { color: false, left: ['2px', 'important'] } };
  page.apply(mutate({ attributes: [{ id: 6, attributes }] }));
  expect(bodyOf(page)).toBe('<p hidden="" style=" top: 1px;left: 2px !important"></p>');
});

test('fields show their recorded values', () => {
  const page = open([
    element(6, 'input', [], { type: 'checkbox' }),
    element(7, 'textarea', [], { value: '***' }),
    element(8, 'input', [], { value: '' }),
  ]);
  page.apply(change(5, { id: 6, text: 'on', isChecked: true }));
  page.apply(change(5, { id: 8, text: '*****', isChecked: false }));
  expect(bodyOf(page)).toBe(
    '<input type="checkbox" value="on" checked=""></input><textarea>***</textarea><input value="*****"></input>',
  );
});

test('nothing is written that runs, loads or breaks the XML', () => {
  const page = open([
    element(6, 'script', [text(7, 'alert(1)')]),
    element(8, 'img', [], { src: 'https://evil.example/a.png', srcset: 'b', onerror: 'alert(1)', alt: '"' }),
    element(9, 'p', [text(10, 'a\u0000\u000bb\ud800')], { '@click': 'x', ':a': 'x', 'a:b': 'x', xmlns: 'x' }),
    element(11, 'o:p'),
    { type: 5, id: 12, textContent: '-->' },
    element(13, 'noscript', [text(14, 'noscript')]),
  ]);
  expect(bodyOf(page)).toBe('<img alt="&quot;"></img><p>ab</p><span></span>');
});

test('the root of the image has what the style sheets select', () => {
  const sheet = element(20, 'link', [], {
    rel: 'stylesheet',
    _cssText: 'html { font-size: 62.5% } a > b { top: 0 }',
  });
  const page = open([], [sheet], { 'data-theme': 'dark', class: 'x' });
  page.apply(change(3, { id: 1, x: 0, y: 40 }));
  const svg = writeSvg(page)!;
  expect(svg).toMatch(
    /^<svg [^>]*width="800" height="600" data-theme="dark" class="x" style="[^"]*font-size: 62.5%"/,
  );
  expect(svg).toContain(
    '<html xmlns="http://www.w3.org/1999/xhtml" data-theme="dark" class="x" style="position',
  );
  expect(svg).toContain('top: -40px');
  expect(svg).toContain('<style>html { font-size: 62.5% } a &gt; b { top: 0 }</style>');
});

test('scrolled elements, shadow roots and drawings are written', () => {
  const page = open([
    element(6, 'div', [element(7, 'p')]),
    element(8, 'x-card', [
      { ...element(9, 'style', [text(10, ':host { color: red }')]), isShadow: true },
      { ...element(11, 'div', [element(12, 'slot')]), isShadow: true },
      text(13, 'light'),
    ]),
    {
      ...element(14, 'svg', [{ ...element(15, 'use', [], { 'xlink:href': '#a' }), isSVG: true }]),
      isSVG: true,
    },
    element(16, 'div', [], { rr_width: '80px', rr_height: '20px' }),
  ]);
  page.apply(change(3, { id: 6, x: 0, y: 30 }));
  expect(bodyOf(page)).toBe(
    '<div><p style="translate: 0px -30px"></p></div>' +
      '<x-card data-ticketbox-shadow="0"><div>light</div></x-card>' +
      '<svg xmlns="http://www.w3.org/2000/svg"><use href="#a"></use></svg>' +
      '<div style="width: 80px; background: #8883; height: 20px; background: #8883"></div>' +
      '<style>@scope ([data-ticketbox-shadow~="0"]) { :scope { color: red } }</style>',
  );
});

test('a style sheet that many shadow roots have is written once', () => {
  const sheet = (id: number) => ({
    ...element(id, 'style', [text(id + 1, 'b { color: red }')]),
    isShadow: true,
  });
  const page = open(
    [10, 20, 30].map((id) =>
      element(id, 'x-card', [sheet(id + 1), { ...element(id + 3, 'b'), isShadow: true }]),
    ),
  );
  const written = bodyOf(page);
  expect(written.split('b { color: red }')).toHaveLength(2);
  expect(written.split('<x-card data-ticketbox-shadow="0"><b></b></x-card>')).toHaveLength(4);
});

test('without a page there is no image', () => {
  expect(writeSvg(new PageModel())).toBeNull();
});
