const BRAND = Symbol.for('advisor-chain.error');

/** Base of all errors of this package. Distinguish them by {@link code}, which never changes. */
export abstract class AdvisorChainError extends Error {
  abstract readonly code: string;
  readonly [BRAND] = true;

  /** @param options `cause` is the error that led to this one */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    // for subclasses of applications; our own set it, since minified bundles rename classes
    this.name = new.target.name;
  }

  /** True for errors of this package, also of a second copy of it. */
  static isInstance(value: unknown): value is AdvisorChainError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** True for an error with one of these codes, also of a second copy of the package. */
export function hasCode(error: unknown, ...codes: readonly string[]): error is AdvisorChainError {
  try {
    return AdvisorChainError.isInstance(error) && codes.includes(error.code);
  } catch {
    return false; // a getter or a proxy threw
  }
}
