/** What rrweb records although it is private. */
import { isWithin } from '../private-parts';

interface Mutation {
  source: number;
  adds?: { node: { id: number } }[];
  texts?: { id: number }[];
  attributes?: { id: number }[];
}
const MUTATION = 0;

/** Remove changes within shadow roots whose hosts are private: rrweb leaves them out of snapshots only. */
export function removePrivateChanges(
  data: unknown,
  selector: string,
  nodeOf: (id: number) => Node | null,
): void {
  const change = data as Mutation;
  if (change.source !== MUTATION) return;
  const isShown = (id: number) => {
    const node = nodeOf(id);
    const root = node?.getRootNode();
    return !(root instanceof ShadowRoot) || !isWithin(root.host, selector);
  };
  change.adds = change.adds?.filter(({ node }) => isShown(node.id));
  change.texts = change.texts?.filter(({ id }) => isShown(id));
  change.attributes = change.attributes?.filter(({ id }) => isShown(id));
}
