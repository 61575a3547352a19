import { AdvisorOrder, type Advisor, type AdvisorChain } from '../src/advisor/advisor.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import type { ChatEvent } from '../src/chat/chat-event.js';
import { guardQuestion } from '../src/guard/guarded-question.js';
import { Policies } from '../src/guard/policies.js';
import { wordRule } from '../src/guard/word-rule.js';
import { checkOption, checkOptions, FINITE, oneOf, rule, TEXT } from '../src/internal/options.js';
import type { Observable } from '../src/internal/rxjs.js';

/** Options of a {@link SafeGuardAdvisor}. */
export interface SafeGuardAdvisorOptions {
  /** Words and phrases that no question may have; case and look-alikes make no difference. */
  readonly sensitiveWords: readonly string[];
  /** Answer to a question that has one of them. @default a polite refusal */
  readonly failureResponse?: string | undefined;
  /** `anywhere` also finds words within longer words, as Spring AI does. @default 'anywhere' */
  readonly match?: 'word' | 'anywhere' | undefined;
  /** @default 'safe-guard' */
  readonly name?: string | undefined;
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
  failureResponse: TEXT,
  match: oneOf('word', 'anywhere'),
  name: TEXT,
  order: FINITE,
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

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: SafeGuardAdvisorOptions) {
    checkOption(NAME, 'sensitiveWords', options?.sensitiveWords, WORDS);
    checkOptions(NAME, options, RULES);
    const {
      sensitiveWords: words,
      failureResponse: answer = FAILURE,
      match = 'anywhere',
    } = options;
    this.name = options.name ?? 'safe-guard';
    this.order = options.order ?? AdvisorOrder.GUARD;
    const rules = words.length > 0 ? wordRule({ words, match, name: 'sensitive-words' }) : [];
    this.policies = new Policies(this.name, 'input', [{ rules, action: 'block', answer }]);
  }

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return guardQuestion(this.policies, request, chain);
  }
}
