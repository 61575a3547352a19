import type { Usage } from '../../src/core/chat/chat-response.js';
import type { ModelCallRecord } from '../../src/core/chat/run-report.js';
import { InvalidArgumentError } from '../../src/core/errors/errors.js';
import {
  checkOption,
  checkOptions,
  isPlainObject,
  numberBetween,
  required,
  rule,
} from '../../src/core/internal/options.js';
import { describe } from '../../src/core/errors/describe.js';

/** Prices of a model per million tokens. */
export interface TokenPrices {
  readonly input: number;
  /** Also of reasoning tokens, which are output. @default 0, for embeddings */
  readonly output?: number | undefined;
  /** Of input that was read from the prompt cache. @default input */
  readonly cachedInput?: number | undefined;
  /** Of input that was written to the prompt cache. @default input */
  readonly cacheWrite?: number | undefined;
}

/** Returns the price of an answer, such as a response, in the currency of its table. */
export type PriceOfAnswer = (answer: Pick<ModelCallRecord, 'model' | 'usage'>) => number;

const MILLION = 1_000_000;
const PRICE = rule(
  'the price of a million tokens, >= 0',
  numberBetween(0, Number.MAX_VALUE).accepts,
);
const PRICES = rule('an object such as { input: 0.25, output: 2 }', isPlainObject);
const RULES = { input: required(PRICE), output: PRICE, cachedInput: PRICE, cacheWrite: PRICE };
const TABLE = rule(
  'an object with the prices of at least one model',
  (value) => isPlainObject(value) && Object.keys(value).length > 0,
);

/**
 * Makes a price function of a table of your prices, by the name of a model. A name that has a version
 * or a date at its end, as in answers of providers, is found by its beginning: the longest name in the
 * table counts, and `''` is for all other models. A call without reported usage costs 0.
 * @returns a function that throws an {@link InvalidArgumentError} for a model that has no price
 * @throws {@link InvalidArgumentError} if a price is invalid
 */
export function priceTable(table: Readonly<Record<string, TokenPrices>>): PriceOfAnswer {
  checkOption('priceTable(…)', 'table', table, TABLE);
  for (const [name, prices] of Object.entries(table)) {
    checkOption('priceTable(…)', name, prices, PRICES);
    checkOptions('priceTable(…)', prices, RULES, `${name}.`);
  }
  const rows = Object.entries(table).toSorted(([a], [b]) => b.length - a.length);
  return ({ model, usage }) => {
    if (!usage) return 0;
    const row = rows.find(([name]) => (model ?? '').startsWith(name));
    if (row) return priceOf(usage, row[1]);
    throw new InvalidArgumentError(
      `priceTable(…): there is no price of the model ${describe(model)}; add it to the table`,
    );
  };
}

function priceOf(
  usage: Usage,
  { input, output = 0, cachedInput, cacheWrite }: TokenPrices,
): number {
  const { inputTokens, outputTokens, cachedInputTokens: read = 0, cacheWriteTokens: written = 0 } = usage; // prettier-ignore
  const cache = read * (cachedInput ?? input) + written * (cacheWrite ?? input);
  const rest = Math.max(0, inputTokens - read - written);
  return (rest * input + cache + outputTokens * output) / MILLION;
}
