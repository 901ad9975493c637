import type { Asset } from '../../../../generated/api';

/** The Markdown that shows a picture, or links another file. */
export function linkAsset(asset: Asset): string {
  const name = asset.name.replace(/[[\]\\]/g, '\\$&');
  return `${asset.width ? '!' : ''}[${name}](/api/v1/assets/${asset.id}/content)`;
}
