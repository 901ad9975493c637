/**
 * Writing a recorded page as an SVG image. Browsers run no scripts in such an image and load nothing for it, and a
 * canvas that shows it can be read (https://svgwg.org/specs/integration/#secure-static-mode).
 */
import { ELEMENT, isDocument, joinRules, readStyle, TEXT, type PageModel, type PageNode } from './page-model';

const SVG = 'http://www.w3.org/2000/svg';
const XHTML = 'http://www.w3.org/1999/xhtml';
const NAME = /^[A-Za-z_][\w.-]*$/;
const FORBIDDEN = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const SPECIAL = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' } as { [sign: string]: string };
const OMITTED = new Set(['script', 'noscript', 'template', 'meta', 'base', 'title', 'frame']);
/** Attributes that would load or run something, or are only rrweb's. */
const OMITTED_ATTRIBUTE = /^(on|xmlns|rr_|_css|src$|srcset$|srcdoc$|poster$|data$|background$|needblock$)/i;
/** What isn't recorded is shown as a box; animations have ended. */
const OWN_STYLE = `
:where(html) { min-height: 100% }
:where(body) { min-height: 100vh }
img, video, audio, canvas, iframe, object, embed { background: #8883; outline: 1px dashed #8886; outline-offset: -1px }
*, *::before, *::after {
  animation-delay: 0s !important; animation-duration: 0s !important; animation-fill-mode: both !important;
  animation-iteration-count: 1 !important; transition: none !important; caret-color: transparent !important }`;
/** What style sheets for `svg` and `*` mustn't change in the image's root and the element that holds the page. */
const HOLDER_STYLE =
  'display: block !important; position: static !important; margin: 0 !important; padding: 0 !important; max-width: none !important; transform: none !important';

/** Write what the page shows in its window; null if there is no page. */
export function writeSvg(page: PageModel): string | null {
  const html = page.root?.children.find(({ tag }) => tag === 'html');
  if (!page.root || !html || !page.width || !page.height) return null;
  const { width, height } = page;
  const { x, y } = page.root.scroll;
  const adopted = page.root.adopted.map(joinRules).join('\n');
  const content =
    writeStyle(OWN_STYLE, XHTML) + writeNodes(html.children, XHTML) + writeStyle(adopted, XHTML);
  const place = `position: relative; left: ${-x}px; top: ${-y}px`;
  const size = `width: ${width}px !important; height: ${height}px !important; ${HOLDER_STYLE}`;
  // the style sheets' `:root` is the image's root, so it has the page's attributes, too
  const root = writeAttributes(html, `${size}; ${findFontSize(html, page)}`);
  return (
    `<svg xmlns="${SVG}" width="${width}" height="${height}"${root}>` +
    `<foreignObject x="0" y="0" width="${width}" height="${height}" style="${size}">` +
    `<html xmlns="${XHTML}"${writeAttributes(html, place)}>${content}</html></foreignObject></svg>`
  );
}

/** The font size that style sheets give to `html`, which the image's root isn't: `rem` depends on it. */
function findFontSize(html: PageNode, page: PageModel): string {
  const sheets = [...collectStyles(html), ...page.root!.adopted.map(joinRules)];
  const sizes = sheets.flatMap((text) => [
    ...text.matchAll(/(?:^|[},\s])html\s*(?:,[^{}]*)?\{[^}]*?[{;\s]font-size:\s*([\d.]+(?:px|%|em|rem))/g),
  ]);
  const size = sizes.at(-1)?.[1];
  return size ? `font-size: ${size}` : '';
}

function collectStyles(node: PageNode): string[] {
  if (node.tag === 'style' || node.attributes.has('_cssText')) return [readStyle(node)];
  return node.tag === 'body' ? [] : node.children.flatMap(collectStyles);
}

function writeNodes(nodes: PageNode[], namespace: string): string {
  return nodes.map((node) => writeNode(node, namespace)).join('');
}

function writeNode(node: PageNode, namespace: string): string {
  if (node.type === TEXT) return escapeXml(node.text);
  if (node.type !== ELEMENT || OMITTED.has(node.tag)) return '';
  if (node.tag === 'style' || node.tag === 'link') return writeStyle(readStyle(node), namespace);
  const own = node.isSvg ? SVG : XHTML;
  const tag = NAME.test(node.tag) ? node.tag : 'span';
  const declared = own === namespace ? '' : ` xmlns="${own}"`;
  const content =
    node.tag === 'textarea' ? escapeXml(node.attributes.get('value') ?? '') : writeContent(node, own);
  return `<${tag}${declared}${writeAttributes(node, describePlace(node))}>${content}</${tag}>`;
}

function writeContent(node: PageNode, namespace: string): string {
  const children = node.children.filter((each) => !isDocument(each));
  const shadow = children.filter(({ isShadow }) => isShadow);
  if (!shadow.length) return writeNodes(children, namespace);
  const adopted = node.adopted.map((sheet) => writeStyle(scope(joinRules(sheet)), namespace)).join('');
  const light = children.filter(({ isShadow }) => !isShadow);
  return adopted + shadow.map((each) => writeShadow(each, light, namespace)).join('');
}

/** Write a node of a shadow root: its style sheets apply only within their host, and slots show the host's children. */
function writeShadow(node: PageNode, light: PageNode[], namespace: string): string {
  if (node.tag === 'style' || node.tag === 'link') return writeStyle(scope(readStyle(node)), namespace);
  if (node.tag === 'slot') {
    const name = node.attributes.get('name') ?? '';
    const shown = light.filter((each) => (each.attributes.get('slot') ?? '') === name);
    return writeNodes(shown.length ? shown : node.children, namespace);
  }
  if (node.type !== ELEMENT || node.children.some(({ isShadow }) => isShadow))
    return writeNode(node, namespace);
  const filled = { ...node, children: [] };
  const content = node.children.map((each) => writeShadow(each, light, node.isSvg ? SVG : XHTML)).join('');
  const empty = writeNode(filled, namespace);
  const end = empty.lastIndexOf('</');
  return end < 0 ? empty : empty.slice(0, end) + content + empty.slice(end);
}

function scope(text: string): string {
  const scoped = text
    .replace(/:host\(([^)]*)\)/g, ':scope:is($1)')
    .replace(/:host/g, ':scope')
    .replace(/::slotted\(([^)]*)\)/g, '$1');
  return `@scope { ${scoped} }`;
}

function writeStyle(text: string, namespace: string): string {
  if (!text.trim()) return '';
  return `<style${namespace === XHTML ? '' : ` xmlns="${XHTML}"`}>${escapeXml(text)}</style>`;
}

/** The style that an element has because of what is scrolled, or because only its size was recorded. */
function describePlace({ attributes, parent }: PageNode): string {
  const { x, y } = parent && parent.tag !== 'html' ? parent.scroll : { x: 0, y: 0 };
  const styles = x || y ? [`translate: ${-x}px ${-y}px`] : [];
  for (const [name, side] of [
    ['rr_width', 'width'],
    ['rr_height', 'height'],
  ] as const)
    if (attributes.has(name)) styles.push(`${side}: ${attributes.get(name)}`, 'background: #8883');
  return styles.join('; ');
}

function writeAttributes({ tag, attributes }: PageNode, style: string): string {
  const written = [...attributes].flatMap(([name, value]) => {
    if (name === 'style' || (name === 'value' && tag === 'textarea')) return [];
    if (name === 'xlink:href') return [[`href`, value]];
    return NAME.test(name) && !OMITTED_ATTRIBUTE.test(name) ? [[name, value]] : [];
  });
  const all = new Map(written as [string, string][]);
  const own = attributes.get('style');
  if (own || style) all.set('style', [own, style].filter(Boolean).join('; '));
  return [...all].map(([name, value]) => ` ${name}="${escapeXml(value)}"`).join('');
}

function escapeXml(text: string): string {
  return text.replace(FORBIDDEN, '').replace(/[&<>"]/g, (sign) => SPECIAL[sign]!);
}
