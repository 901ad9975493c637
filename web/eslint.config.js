import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

const NO_ROOT_PATHS = {
  selector:
    'SvelteAttribute[key.name=/^(action|href|src)$/] > SvelteLiteral.value:first-child[value=/^\\u002F/]',
  message: 'The server may be under a path: write {withBase(…)} (app/core/navigation/base.ts).',
};

const ABOVE_APP = ['extension', 'recorder', 'reporter'];
const ABOVE_EXTENSION = ['app', 'reporter'];
const ROOMS = ['accounts', 'companies', 'events', 'search', 'settings', 'shell', 'tickets'];

/** The floors of `src`: what the files of a folder must not import, types included. The last folder that matches counts. */
const FLOORS = {
  shared: ['app', 'extension', 'recorder', 'reporter'],
  recorder: ['app', 'extension', 'reporter', 'shared'],
  app: ABOVE_APP,
  'app/core': [...ABOVE_APP, ...ROOMS, 'captures', 'ui'],
  'app/ui': [...ABOVE_APP, ...ROOMS, 'captures'],
  // people point at what is wrong in replays as on the page itself
  'app/captures': ['extension', 'recorder(?!/pointing/)', 'reporter', ...ROOMS],
  extension: ABOVE_EXTENSION,
  'extension/!(pages)': [...ABOVE_EXTENSION, 'pages'],
  'extension/outbox': [...ABOVE_EXTENSION, 'pages', 'background', 'capture', 'recording'],
  'extension/draft': [
    ...ABOVE_EXTENSION,
    'pages',
    'background',
    'capture',
    'connection',
    'outbox',
    'recording',
  ],
  reporter: [
    'app',
    'extension/background',
    'extension/connection',
    'extension/outbox',
    'extension/pages/\\w+',
  ],
};

/** Forbid imports of folders, `import()` as well, which no-restricted-imports overlooks. */
function forbidImports([folder, forbidden]) {
  const paths = forbidden.join('|').replaceAll('/', '\\u002F');
  const imports = 'ImportDeclaration, ImportExpression, ExportNamedDeclaration, ExportAllDeclaration';
  const selector = `:matches(${imports}) > Literal.source[value=/^([.]+\\u002F)+(${paths})\\u002F/]`;
  const message = `${folder} must not import this folder (FLOORS in eslint.config.js).`;
  const rule = ['error', NO_ROOT_PATHS, { selector, message }];
  return { files: [`src/${folder}/**`], rules: { 'no-restricted-syntax': rule } };
}

export default ts.config(
  { ignores: ['generated/', 'node_modules/'] },
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
  },
  {
    rules: {
      'svelte/no-at-html-tags': 'error',
      'svelte/prefer-svelte-reactivity': 'off', // dates here are read, never changed
      'svelte/no-navigation-without-resolve': 'off', // the app doesn't use SvelteKit's router
      'no-restricted-syntax': ['error', NO_ROOT_PATHS],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  ...Object.entries(FLOORS).map(forbidImports),
);
