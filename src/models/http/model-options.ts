import {
  CHAT_OPTION_RULES,
  TO_EXTRA_BODY,
  type ChatOptions,
} from '../../core/chat/chat-options.js';
import { checkOptions, type OptionRules, type Rule } from '../../core/internal/options.js';

/**
 * Checks the options of a chat model.
 * @param own rules of the options that are not sent with each request
 * @throws {@link InvalidArgumentError} if an option is unknown or its value is invalid
 */
export function checkModelOptions<T extends object>(
  where: string,
  options: T,
  own: OptionRules<Omit<T, keyof ChatOptions>> & { readonly model?: Rule },
): void {
  checkOptions<object>(where, options, { ...CHAT_OPTION_RULES, ...own }, '', TO_EXTRA_BODY);
}
