import { parseJson } from '../../core/internal/json.js';
import {
  CHECKED_APART,
  checkOptions,
  isPlainObject,
  numberBetween,
  rule,
  TEXT,
  TIMEOUT,
} from '../../core/internal/options.js';
import { listOf } from '../../core/json-schema/json-pointer.js';
import { isCutJson } from '../../core/internal/partial-json.js';
import { CONNECTION_RULES, jsonBody, MAX_RESPONSE_BYTES } from '../http/connection.js';
import { objectOf } from '../http/fields.js';
import { throwReportedError, unexpectedBody, unusableBody } from '../http/http-error.js';
import { HttpRequest } from '../http/http-request.js';
import { connectToOpenAI, type OpenAIConnectionOptions } from './client.js';

/** Options of an {@link openAIModerationRule}, and the connection. */
export interface OpenAIModerationRuleOptions extends OpenAIConnectionOptions {
  /** @default 'omni-moderation-latest' */
  readonly model?: string | undefined;
  /** Categories that count, such as `self-harm`. @default all */
  readonly categories?: readonly string[] | undefined;
  /** Score of a category from which it counts, from 0 to 1. @default the decision of the server */
  readonly threshold?: number | undefined;
  /** Time limit in milliseconds for an attempt, or `Infinity`. @default 30_000 */
  readonly timeout?: number | undefined;
  /** Name in events and errors. @default 'moderation' */
  readonly name?: string | undefined;
}

/** A rule for a `GuardAdvisor`; an application may also call it itself. */
export interface OpenAIModerationRule {
  /** Name in events and errors. */
  readonly name: string;
  /**
   * Judges a text; `kinds` are the categories that count.
   * @throws {@link ModelCallError} if the endpoint gives no judgement
   */
  check(
    text: string,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly flagged: boolean; readonly kinds?: readonly string[] }>;
}
type Moderation = Awaited<ReturnType<OpenAIModerationRule['check']>>;

const NAME = 'openAIModerationRule';
const RULES = {
  ...CONNECTION_RULES,
  baseURL: CHECKED_APART,
  client: CHECKED_APART,
  model: TEXT,
  categories: rule(
    'an array of names of categories',
    (value) => Array.isArray(value) && value.length > 0 && value.every(TEXT.accepts),
  ),
  threshold: numberBetween(0, 1),
  timeout: TIMEOUT,
  name: TEXT,
};

/**
 * A rule by which the moderation endpoint of OpenAI, or a compatible one, judges texts. The kinds of
 * its findings are the categories. The endpoint is free of charge: its calls are in no ledger.
 * @throws {@link InvalidArgumentError} if an option is invalid or there is no API key
 */
export function openAIModerationRule(
  options: OpenAIModerationRuleOptions = {},
): OpenAIModerationRule {
  checkOptions(NAME, options, RULES);
  const { name = 'moderation', model = 'omni-moderation-latest', maxRetries = 2 } = options;
  const { timeout = 30_000, maxResponseBytes = MAX_RESPONSE_BYTES } = options;
  const { apiKey, baseURL, fetch, headers, client } = options;
  const connection = connectToOpenAI(NAME, { apiKey, baseURL, fetch, headers, client });
  const { secrets } = connection;
  const settings = { model, maxRetries, timeout, maxResponseBytes, secrets };
  return {
    name,
    check: async (text, { signal }) => {
      const send = connection.post(
        '/moderations',
        jsonBody(() => ({ model, input: text })),
      );
      const request = new HttpRequest<Uint8Array>(settings, { signal, inLedger: true }, send);
      const { verdict } = await request.call((body, answerHeaders) => {
        const document = parsed(body, answerHeaders, secrets());
        throwReportedError(document);
        return { model, verdict: verdictOf(document, options) };
      });
      return verdict;
    },
  };
}

function parsed(body: string, headers: Headers, secrets: readonly string[]): unknown {
  try {
    return parseJson(body);
  } catch {
    throw unusableBody('a moderation', isCutJson(body), headers, secrets);
  }
}

/** @throws {@link ModelCallError} if the document is not a moderation of one text */
function verdictOf(
  document: unknown,
  { categories: counted, threshold }: OpenAIModerationRuleOptions,
): Moderation {
  const { results } = objectOf(document);
  const [result, ...others] = listOf(results);
  if (!isPlainObject(result) || others.length > 0)
    throw unexpectedBody('a moderation', 'no result');
  const { flagged, categories, category_scores: scores } = result;
  if (typeof flagged !== 'boolean' || !isPlainObject(categories))
    throw unexpectedBody('a moderation', 'no verdict');
  const values = threshold === undefined ? categories : scores;
  if (!isPlainObject(values)) throw unexpectedBody('a moderation', 'no scores');
  const missing = counted?.find((category) => !(category in values));
  if (missing !== undefined) throw unexpectedBody('a moderation', `no category "${missing}"`);
  const isOver = (value: unknown): boolean =>
    threshold === undefined ? value === true : typeof value !== 'number' || value >= threshold;
  const kinds = Object.keys(values).filter(
    (category) => isOver(values[category]) && (counted?.includes(category) ?? true),
  );
  const isFlaggedAlone = flagged && !counted && threshold === undefined;
  if (kinds.length === 0) return { flagged: isFlaggedAlone };
  return { flagged: true, kinds };
}
