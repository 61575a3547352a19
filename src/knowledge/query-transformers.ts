import { CHAT_MODEL } from '../core/advisor/chat-client-request.js';
import type { ChatModel } from '../core/chat/chat-model.js';
import { checkOptions, required, TEXT } from '../core/internal/options.js';
import { askAboutQuery, historyLines } from './ask-about-query.js';
import type { Query, QueryTransformer } from './query.js';

/** Options of {@link compressQuery}. */
export interface CompressQueryOptions {
  /** The model that writes the question, such as a small one; the run of the query counts its usage. */
  readonly model: ChatModel;
}

/** Options of {@link rewriteQuery}. */
export interface RewriteQueryOptions extends CompressQueryOptions {
  /** The system that will be searched, for the model. @default 'vector store' */
  readonly target?: string | undefined;
}

/** Options of {@link translateQuery}. */
export interface TranslateQueryOptions extends CompressQueryOptions {
  /** Language of the documents, such as `English`. */
  readonly language: string;
}

const MODEL_RULE = { model: required(CHAT_MODEL) };

/**
 * Makes one question of a follow-up and the conversation before it, so that "And in 1990?" finds
 * something. Asks no model without a history. The query is unchanged if the model answers nothing.
 *
 * The transformer rejects with the error of the model, or {@link CancelledError}.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function compressQuery(options: CompressQueryOptions): QueryTransformer {
  checkOptions('compressQuery', options, MODEL_RULE);
  return async (query) => {
    const history = historyLines(query.history);
    if (history.length === 0) return query;
    return withText(query, await askAboutQuery(options.model, COMPRESS, query, history));
  };
}

/**
 * Rewrites a query for a search: shorter, and without what no document has. The query is unchanged
 * if the model answers nothing.
 *
 * The transformer rejects with the error of the model, or {@link CancelledError}.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function rewriteQuery(options: RewriteQueryOptions): QueryTransformer {
  checkOptions('rewriteQuery', options, { ...MODEL_RULE, target: TEXT });
  const { model, target = 'vector store' } = options;
  const instructions = rewriteFor(target);
  return async (query) => withText(query, await askAboutQuery(model, instructions, query));
}

/**
 * Translates a query to the language of the documents. The query is unchanged if the model answers
 * nothing.
 *
 * The transformer rejects with the error of the model, or {@link CancelledError}.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function translateQuery(options: TranslateQueryOptions): QueryTransformer {
  checkOptions('translateQuery', options, { ...MODEL_RULE, language: required(TEXT) });
  const instructions = translateTo(options.language);
  return async (query) => withText(query, await askAboutQuery(options.model, instructions, query));
}

const withText = (query: Query, text: string): Query => (text === '' ? query : { ...query, text });

const COMPRESS = `You get the messages of a conversation and, in the last line, a follow-up query. Write one standalone query that can be understood without the conversation: take over the names, things and conditions that the follow-up refers to, and nothing else.
Write in the language of the query. Answer with the query alone.`;

const rewriteFor = (
  target: string,
): string => `You prepare a query for a search in this system: ${target}.
Rewrite the query so that it finds the right documents: keep its meaning, names and numbers, leave out what does not help the search, and be short.
Write in the language of the query. Answer with the query alone.`;

const translateTo = (
  language: string,
): string => `Translate the query to this language: ${language}. If it is in this language already, or if you do not know its language, repeat it unchanged. Names and code stay untranslated.
Answer with the query alone.`;
