import { notify } from '../internal/notify.js';

/** Receives the warnings of a client: `console`, or a logger of pino or winston. */
export interface WarningLogger {
  warn(text: string): unknown;
}

/** Logs the warnings of a client, and of those derived from it by `mutate()`: each once. */
export class Warnings {
  private readonly logged = new Set<string>();

  /** @param logger false for none. @default `console`, in development */
  constructor(private readonly logger?: WarningLogger | false) {}

  log(warnings: readonly string[]): void {
    const added = warnings.filter((warning) => !this.logged.has(warning));
    if (added.length === 0) return;
    const { logger = isDevelopment() && console } = this;
    if (!logger) return;
    for (const warning of added) {
      this.logged.add(warning);
      notify(() => logger.warn(`advisor-chain: ${warning}`));
    }
  }
}

/** A platform without a `process`, such as a browser, may be the one of users. */
function isDevelopment(): boolean {
  const { env } = globalThis.process ?? {};
  return env !== undefined && env['NODE_ENV'] !== 'production';
}
