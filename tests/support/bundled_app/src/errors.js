export class ShopError extends Error {
  constructor(message, { cause } = {}) {
    super(message, { cause });
    this.name = 'ShopError';
  }
}

export function fail(reason) {
  throw new ShopError(`failed: ${reason}`);
}
