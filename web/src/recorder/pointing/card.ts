/** The card beside the element: what the person says is wrong about it. Each control has its act in `data-act`. */
import { isPrivate } from '../actions/privacy';
import { listChoices, readCorrectable } from './compose';
import { createElement } from './create-element';

/** What a person calls it, and its role. */
const KINDS: [words: string, role: string][] = [
  ['Button', 'button'],
  ['Link', 'link'],
  ['Field', 'textbox'],
  ['Text', ''],
  ['Image', 'img'],
];

/** The card of an element. `name`: what it is called. */
export function createCard(element: Element, name: string): HTMLElement {
  if (isPrivate(element))
    return wrap(
      name,
      createElement('p', {}, 'This part of the page is private. Reports have nothing of it.'),
    );
  const correctable = readCorrectable(element);
  const choices = listChoices(element).map(([choice, words]) =>
    createElement('button', { type: 'button', class: 'choice', 'data-act': choice }, words),
  );
  return wrap(
    name,
    ...(correctable
      ? [
          createField(
            correctable.is === 'value' ? 'The value should be' : 'The text should be',
            correctable.seen,
          ),
        ]
      : []),
    createElement('div', { class: 'choices' }, ...choices),
  );
}

/** The card for something that is missing near an element. */
export function createMissingCard(): HTMLElement {
  const kinds = KINDS.map(([words, role]) => createElement('option', { value: role }, words));
  const kind = createElement(
    'div',
    { class: 'field' },
    createElement('label', { for: 'kind' }, 'Its kind'),
    createElement('select', { id: 'kind' }, ...kinds),
  );
  return wrap('What is missing here?', kind, createField('Its name, as people read it', ''));
}

function wrap(heading: string, ...children: Node[]): HTMLElement {
  return createElement(
    'section',
    { class: 'card', role: 'dialog', 'aria-labelledby': 'heading' },
    createElement('h2', { id: 'heading' }, heading),
    ...children,
    createElement('p', { class: 'bad', role: 'alert' }),
    createElement(
      'div',
      { class: 'row' },
      createElement(
        'button',
        { type: 'button', class: 'quiet', 'data-act': 'back' },
        'Choose another element',
      ),
    ),
  );
}

function createField(label: string, value: string): HTMLElement {
  const input = createElement('input', { id: 'text', autocomplete: 'off', dir: 'auto', maxlength: '500' });
  input.value = value;
  return createElement(
    'div',
    { class: 'field' },
    createElement('label', { for: 'text' }, label),
    createElement(
      'div',
      { class: 'row' },
      input,
      createElement('button', { type: 'button', class: 'primary', 'data-act': 'done' }, 'Done'),
    ),
  );
}
