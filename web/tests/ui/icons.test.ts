import Plus from '@lucide/svelte/icons/plus';
import { render } from 'svelte/server';
import { expect, test } from 'vitest';
import Icon from '../../node_modules/@lucide/svelte/dist/Icon.svelte';

const icon = {
  name: 'plus',
  node: [['path', { d: 'M5 12h14' }] as const, ['path', { d: 'M12 5v14' }] as const],
};

/** An element's tags with their attributes in order, without classes that no style uses and what HTML implies. */
function parseTags(html: string): string[][] {
  return [...html.replace(/<!--.*?-->/g, '').matchAll(/<(\w+) ([^>]*?)\/?>/g)].map(([, tag, attributes]) => [
    tag!,
    ...[...attributes!.matchAll(/[\w:-]+="[^"]*"/g)]
      .map(([each]) => each.replace(/ ?\blucide-\w+/g, ''))
      .filter((each) => !each.startsWith('xmlns='))
      .toSorted(),
  ]);
}

test.each([
  {},
  { size: 16 },
  { size: 22, strokeWidth: 1.5 },
  { fill: 'currentColor' },
  { 'aria-label': 'Add' },
  { 'aria-hidden': 'true' as const },
])("an icon with %o has the elements of Lucide's own", (props) => {
  const ours = render(Plus, { props }).body;
  expect(ours).toContain('class="lucide"');
  expect(parseTags(ours)).toEqual(parseTags(render(Icon, { props: { icon, ...props } }).body));
  expect(parseTags(ours)).toHaveLength(3);
});
