import type { Context } from '@opentelemetry/api';

/** Surroundings that are made when somebody looks into them. Keeps nothing of what they are made from after that. */
export class LateContext implements Context {
  /**
   * @param made those that they are in: what is seen while they are made
   * @param make makes them, once
   */
  constructor(
    private made: Context,
    private make: (() => Context) | undefined,
  ) {}

  /** The surroundings themselves. */
  resolve(): Context {
    const { make } = this;
    if (make) {
      this.make = undefined;
      this.made = make();
    }
    return this.made;
  }

  getValue(key: symbol): unknown {
    return this.resolve().getValue(key);
  }

  setValue(key: symbol, value: unknown): Context {
    return this.resolve().setValue(key, value);
  }

  deleteValue(key: symbol): Context {
    return this.resolve().deleteValue(key);
  }
}
