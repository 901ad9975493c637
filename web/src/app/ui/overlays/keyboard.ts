/** Keep `--keyboard`, the height of what a phone's keyboard covers. Returns how to stop. */
export function followKeyboard(): () => void {
  const { style } = document.documentElement;
  const view = window.visualViewport;
  if (!view) return () => {};
  const measure = () =>
    style.setProperty('--keyboard', `${Math.max(0, innerHeight - view.height - view.offsetTop)}px`);
  view.addEventListener('resize', measure);
  view.addEventListener('scroll', measure);
  measure();
  return () => {
    view.removeEventListener('resize', measure);
    view.removeEventListener('scroll', measure);
    style.removeProperty('--keyboard');
  };
}
