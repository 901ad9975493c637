/**
 * Writing a recorded page as an SVG image. Browsers run no scripts in such an image and load nothing for it, and a
 * canvas that shows it can be read (https://svgwg.org/specs/integration/#secure-static-mode).
 */
import { ELEMENT, isDocument, joinRules, readStyle, TEXT, type PageModel, type PageNode } from './page-model';
import { SHADOW_ATTRIBUTE, ShadowStyles } from './shadow-styles';

const SVG = 'http://www.w3.org/2000/svg';
const XHTML = 'http://www.w3.org/1999/xhtml';
const NAME = /^[A-Za-z_][\w.-]*$/;
const FORBIDDEN = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const SPECIAL = { '&': '&amp;', '<': '&lt;', '>': '&gt;' } as { [sign: string]: string };
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
  const shadows = new ShadowStyles();
  const nodes = writeNodes(html.children, XHTML, shadows);
  const styles = [adopted, shadows.join()].map((each) => writeStyle(each, XHTML)).join('');
  const content = writeStyle(OWN_STYLE, XHTML) + nodes + styles;
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

function writeNodes(nodes: PageNode[], namespace: string, shadows: ShadowStyles): string {
  return nodes.map((node) => writeNode(node, namespace, shadows)).join('');
}

function writeNode(node: PageNode, namespace: string, shadows: ShadowStyles): string {
  if (node.type === TEXT) return escapeText(node.text);
  if (node.type !== ELEMENT || OMITTED.has(node.tag)) return '';
  if (node.tag === 'style' || node.tag === 'link') return writeStyle(readStyle(node), namespace);
  const own = node.isSvg ? SVG : XHTML;
  const content =
    node.tag === 'textarea'
      ? escapeText(node.attributes.get('value') ?? '')
      : writeContent(node, own, shadows);
  return writeElement(node, namespace, content, shadows);
}

function writeElement(node: PageNode, namespace: string, content: string, shadows: ShadowStyles): string {
  const own = node.isSvg ? SVG : XHTML;
  const tag = NAME.test(node.tag) ? node.tag : 'span';
  const declared = own === namespace ? '' : ` xmlns="${own}"`;
  const sheets = shadows.nameSheets(node);
  const scope = sheets === undefined ? '' : ` ${SHADOW_ATTRIBUTE}="${sheets}"`;
  return `<${tag}${declared}${writeAttributes(node, describePlace(node))}${scope}>${content}</${tag}>`;
}

function writeContent(host: PageNode, namespace: string, shadows: ShadowStyles): string {
  const children = host.children.filter((each) => !isDocument(each));
  const shadow = children.filter(({ isShadow }) => isShadow);
  if (!shadow.length) return writeNodes(children, namespace, shadows);
  for (const sheet of host.adopted) shadows.add(host, sheet);
  const light = children.filter(({ isShadow }) => !isShadow);
  return shadow.map((each) => writeShadow(each, { host, light }, namespace, shadows)).join('');
}

/** The host of a shadow root, and its children, which the root's slots show. */
interface Host {
  host: PageNode;
  light: PageNode[];
}

/** Write a node of a shadow root. */
function writeShadow(node: PageNode, of: Host, namespace: string, shadows: ShadowStyles): string {
  if (node.tag === 'style' || node.tag === 'link') {
    shadows.add(of.host, readStyle(node));
    return '';
  }
  if (node.tag === 'slot') {
    const name = node.attributes.get('name') ?? '';
    const shown = of.light.filter((each) => (each.attributes.get('slot') ?? '') === name);
    return writeNodes(shown.length ? shown : node.children, namespace, shadows);
  }
  const isHost = node.children.some(({ isShadow }) => isShadow);
  if (node.type !== ELEMENT || OMITTED.has(node.tag) || node.tag === 'textarea' || isHost)
    return writeNode(node, namespace, shadows);
  const own = node.isSvg ? SVG : XHTML;
  const content = node.children.map((each) => writeShadow(each, of, own, shadows)).join('');
  return writeElement(node, namespace, content, shadows);
}

function writeStyle(text: string, namespace: string): string {
  if (!text.trim()) return '';
  return `<style${namespace === XHTML ? '' : ` xmlns="${XHTML}"`}>${escapeText(text)}</style>`;
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
  return [...all].map(([name, value]) => ` ${name}="${escapeAttribute(value)}"`).join('');
}

function escapeText(text: string): string {
  return text.replace(FORBIDDEN, '').replace(/[&<>]/g, (sign) => SPECIAL[sign]!);
}

function escapeAttribute(text: string): string {
  return escapeText(text).replaceAll('"', '&quot;');
}
