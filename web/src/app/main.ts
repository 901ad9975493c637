import './fonts.css';
import '../shared/ui/base.css';
import { mount } from 'svelte';
import App, { type FirstPage } from './App.svelte';
import { router } from './core/navigation/router.svelte';
import { applyTheme } from './core/theme.svelte';
import { findPage } from './pages';
import { afterPaint } from './ui/feedback/after-paint';
import { locale } from './ui/time/locale.svelte';

/** Show the app with its first page. */
async function start(): Promise<void> {
  const load = findPage(router.route);
  // The server's page preloads the code of the first page. Shown together with the rest, nothing is laid out twice.
  const first: FirstPage | undefined = await load().then(
    ({ default: page }) => ({ load, page }),
    () => undefined, // the app says so
  );
  mount(App, { target: document.getElementById('app')!, props: { first } });
  await afterPaint();
  locale.prepare();
}

applyTheme();
void start();
