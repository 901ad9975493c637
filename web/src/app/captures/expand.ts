/** Make everything beside an element inert while it covers the page, up to the frame of the app. */
export function coverPage(element: HTMLElement): () => void {
  const covered: HTMLElement[] = [];
  for (let node = element; node.parentElement && !node.matches('.shell'); node = node.parentElement) {
    for (const sibling of node.parentElement.children) {
      if (sibling === node || !(sibling instanceof HTMLElement) || sibling.inert) continue;
      if (node.parentElement.matches('#app, body')) continue; // messages stay
      sibling.inert = true;
      covered.push(sibling);
    }
  }
  return () => covered.forEach((each) => (each.inert = false));
}
