import { AdvisorOrder } from '../../src/core/advisor/advisor.js';
import {
  placeOf,
  type AdvisorPlace,
  type CheckedPlace,
} from '../../src/core/advisor/advisor-place.js';
import { CHAT_MODEL } from '../../src/core/advisor/chat-client-request.js';
import type { ChatModel } from '../../src/core/chat/chat-model.js';
import type { Message } from '../../src/core/chat/message.js';
import {
  CHECKED_APART,
  FUNCTION,
  integer,
  numberBetween,
  required,
  rule,
  TEXT,
} from '../../src/core/internal/options.js';
import type { OffloadOptions } from './offload-options.js';

/** Options of a {@link CompactionAdvisor}. */
export interface CompactionAdvisorOptions extends AdvisorPlace {
  /**
   * Maximum number of input tokens of a model call, >= 1: less than the context window of the model,
   * which also has the answer.
   */
  readonly maxTokens: number;
  /**
   * Share of `maxTokens` to which a step shortens, from 0.1 to 0.9. The smaller it is, the rarer is a
   * step, after which the provider's prompt cache has to be filled again. @default 0.5
   */
  readonly clearTo?: number | undefined;
  /**
   * Number of the latest iterations of the turn that stay, >= 1. If nothing else helps, only the last
   * one does. @default 3
   */
  readonly keepIterations?: number | undefined;
  /** Names of tools whose results always stay. @default none */
  readonly excludeTools?: readonly string[] | undefined;
  /**
   * Keeps long results in a store, from where the model reads them with a tool: those longer than
   * `offload.over` before the model gets them, others when room is needed. @default none: they are cut
   */
  readonly offload?: OffloadOptions | undefined;
  /** Writes summaries of what is removed. @default none: an outline without a model */
  readonly model?: ChatModel | undefined;
  /**
   * Counts the tokens of a message; the schema of a tool is counted as a message with its JSON. The
   * sum is corrected by the usage that the model reports.
   * @default a quarter of its characters, plus 4, and 1,500 for each image, audio or file
   */
  readonly tokenCounter?: ((message: Message) => number) | undefined;
  /** Position, within the tool loop. @default AdvisorOrder.COMPACTION */
  readonly order?: number | undefined;
}

const NAME = 'CompactionAdvisor';
const RULES = {
  maxTokens: required(integer(1)),
  clearTo: numberBetween(0.1, 0.9),
  keepIterations: integer(1),
  excludeTools: rule(
    'an array of names of tools',
    (value) => Array.isArray(value) && value.every((name) => TEXT.accepts(name)),
  ),
  offload: CHECKED_APART,
  model: CHAT_MODEL,
  tokenCounter: FUNCTION,
};

/** @throws {@link InvalidArgumentError} if an option is missing or out of range */
export function checkCompactionOptions(options: CompactionAdvisorOptions): CheckedPlace {
  const place = { name: 'compaction', order: AdvisorOrder.COMPACTION };
  return placeOf(NAME, options, RULES, place);
}
