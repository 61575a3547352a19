import { CHAT_MODEL } from '../core/advisor/chat-client-request.js';
import type { ChatModel } from '../core/chat/chat-model.js';
import { BOOLEAN, checkOptions, integer, required } from '../core/internal/options.js';
import { askAboutQuery } from './ask-about-query.js';
import type { QueryExpander } from './query.js';

/** Options of {@link expandQuery}. */
export interface ExpandQueryOptions {
  /** The model that writes the queries, such as a small one; the run of the query counts its usage. */
  readonly model: ChatModel;
  /** Number of queries that the model writes, an integer >= 1. @default 3 */
  readonly count?: number | undefined;
  /** True to search by the original query, too, as the first one. @default true */
  readonly includeOriginal?: boolean | undefined;
}

const RULES = { model: required(CHAT_MODEL), count: integer(1), includeOriginal: BOOLEAN };

/**
 * Makes several queries of one, each from another point of view, whose results are joined. If the
 * model answers another number of lines, the original is the only query.
 *
 * The expander rejects with the error of the model, or {@link CancelledError}.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function expandQuery(options: ExpandQueryOptions): QueryExpander {
  checkOptions('expandQuery', options, RULES);
  const { model, count = 3, includeOriginal = true } = options;
  const instructions = expandTo(count);
  return async (query) => {
    const written = linesOf(await askAboutQuery(model, instructions, query));
    if (written.length !== count) return [query];
    const texts = new Set(includeOriginal ? [query.text, ...written] : written);
    return [...texts].map((text) => ({ ...query, text }));
  };
}

/** A number or a bullet before a query, which models write although they should not. */
const BULLET = /^(?:\d{1,2}[.)]|[-*•])\s+/;

function linesOf(answer: string): readonly string[] {
  const lines = answer.split('\n').map((line) => line.trim().replace(BULLET, ''));
  return lines.filter((line) => line !== '');
}

const expandTo = (count: number): string =>
  `Write ${count} versions of the query for a search in documents. Each has another point of view or other words, so that together they find more, and all have the meaning of the original.
Write in the language of the query. Answer with ${count} lines, one version a line: no numbers, no explanation.`;
