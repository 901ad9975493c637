/** The panel of the reporter. The page's own small script loads it when somebody opens it. */
import { mount } from 'svelte';
import { addStyles, findReporter } from './embedding';
import Panel from './Panel.svelte';

/** Replaced by the components' style sheet (build/reporter.ts). */
const STYLES = '__STYLES__';

const reporter = findReporter();
if (reporter)
  reporter.mountPanel = ({ root, shadow, ...embedding }) => {
    addStyles(shadow, STYLES);
    return mount(Panel, { target: root, props: embedding }).open;
  };
