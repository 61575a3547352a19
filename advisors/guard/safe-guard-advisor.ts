import { AdvisorOrder, type Advisor, type AdvisorChain } from '../../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import { guardQuestion } from './guarded-question.js';
import { Policies } from './policies.js';
import { wordRule } from './word-rule.js';
import { oneOf, required, rule, TEXT } from '../../src/core/internal/options.js';
import type { Observable } from '../../src/core/internal/rxjs.js';

/** Options of a {@link SafeGuardAdvisor}. */
export interface SafeGuardAdvisorOptions extends AdvisorPlace {
  /** Words and phrases that no question may have; case and look-alikes make no difference. */
  readonly sensitiveWords: readonly string[];
  /** Answer to a question that has one of them. @default a polite refusal */
  readonly failureResponse?: string | undefined;
  /** `anywhere` also finds words within longer words, as Spring AI does. @default 'anywhere' */
  readonly match?: 'word' | 'anywhere' | undefined;
  /** Position, left of the memory. @default AdvisorOrder.GUARD */
  readonly order?: number | undefined;
}

const NAME = 'SafeGuardAdvisor';
const FAILURE =
  "I'm unable to respond to that due to sensitive content. Could we rephrase or discuss something else?";
const WORDS = rule(
  'an array of words',
  (value) => Array.isArray(value) && value.every((word) => TEXT.accepts(word)),
);
const RULES = {
  sensitiveWords: required(WORDS),
  failureResponse: TEXT,
  match: oneOf('word', 'anywhere'),
};

/**
 * Answers questions with sensitive words itself: a {@link GuardAdvisor} with a list of words. Looks
 * at the new message of the user alone.
 */
export class SafeGuardAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['guards-input'] as const;
  private readonly policies: Policies;
  /** @internal As they were given, for inspectors. */
  readonly options: SafeGuardAdvisorOptions;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: SafeGuardAdvisorOptions) {
    this.options = options;
    const place = { name: 'safe-guard', order: AdvisorOrder.GUARD };
    ({ name: this.name, order: this.order } = placeOf(NAME, options, RULES, place));
    const {
      sensitiveWords: words,
      failureResponse: answer = FAILURE,
      match = 'anywhere',
    } = options;
    const rules = words.length > 0 ? wordRule({ words, match, name: 'sensitive-words' }) : [];
    this.policies = new Policies(this.name, 'input', [{ rules, action: 'block', answer }]);
  }

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return guardQuestion(this.policies, request, chain);
  }
}
