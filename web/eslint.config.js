import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

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
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'SvelteAttribute[key.name=/^(action|href|src)$/] > SvelteLiteral.value:first-child[value=/^\\u002F/]',
          message: 'The server may be under a path: write {withBase(…)} (app/core/navigation/base.ts).',
        },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
);
