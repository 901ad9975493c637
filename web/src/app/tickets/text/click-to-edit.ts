/** Whether the person has just selected text: a click that ends a selection doesn't start editing. */
export function isTextSelected(): boolean {
  return getSelection()?.isCollapsed === false;
}

/** Whether a click on a text means the text itself, not something in it that reacts to clicks. */
export function isPlainClick(event: MouseEvent): boolean {
  return !isTextSelected() && !(event.target as Element).closest('a, button, input, img, summary, .wide');
}
