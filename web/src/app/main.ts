import './fonts.css';
import '../shared/ui/base.css';
import { mount } from 'svelte';
import App, { type FirstPage } from './App.svelte';
import { router } from './core/navigation/router.svelte';
import { waitForFirstResponses } from './core/server/first-responses';
import { applyTheme } from './core/theme.svelte';
import { findPage } from './pages';
import { afterPaint, whenIdle } from './ui/feedback/after-paint';
import { locale } from './ui/time/locale.svelte';

const PATIENCE_MS = 100; // then a waiting page is better than none

/** Show the app with its first page, together with its data if that is there in time: nothing is laid out twice. */
async function start(): Promise<void> {
  const load = findPage(router.route);
  const loading = load().then(
    ({ default: page }): FirstPage => ({ load, page }),
    () => undefined, // the app says so
  );
  const [first] = await Promise.all([loading, waitForFirstResponses(PATIENCE_MS)]);
  mount(App, { target: document.getElementById('app')!, props: { first } });
  await afterPaint();
  await whenIdle();
  locale.prepare();
}

applyTheme();
void start();
