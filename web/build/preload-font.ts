import type { Plugin } from 'vite';

const FONT = /\/inter-latin-wght-normal-[^/]*\.woff2$/;

/** Load the font of Latin letters together with the code, so that the first page isn't laid out twice. */
export function preloadFont(): Plugin {
  return {
    name: 'preload-font',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_, { bundle, path }) {
        if (path !== '/index.html') return [];
        const font = Object.keys(bundle!).find((name) => FONT.test(name));
        if (!font) throw new Error('the app has another font now');
        const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: true, href: `/${font}` };
        return [{ tag: 'link', attrs, injectTo: 'head' }];
      },
    },
  };
}
