import { arrayOf, checkOptions, TEXT } from '../../src/core/internal/options.js';
import { scanFolded } from './fold.js';
import type { TextRule } from './guard-rule.js';
import type { KindRuleOptions } from './kind-rule.js';
import { inJson, PatternSearch } from './pattern-search.js';

/** Kinds of wordings that an {@link injectionRule} finds. */
export type InjectionKind = keyof typeof PATTERNS;

/** Up to some words between two that matter; a line break may be one of JSON. */
const SPACES = '(?:[\\s,]|\\\\[nrt]){1,4}';
const GAP = `(?:${SPACES}[\\w'-]{1,20}){0,4}?${SPACES}`;
const RULES_OF = '(?:instructions?|prompts?|rules|guidelines|directives?|commands?|context|orders)';

/** Patterns of folded text in any case. */
const PATTERNS = {
  'ignore-instructions': `(?<![\\dA-Za-z])(?:ignore|disregard|forget|override|bypass|do not follow|stop following)${GAP}(?:(?:previous|prior|above|earlier|preceding|former|original|initial|system|all|your|any|the)${GAP})${RULES_OF}(?!\\w)`,
  'new-instructions': `(?<![\\dA-Za-z])(?:(?:here are |these are )?(?:your|the)? ?(?:new|updated|real|actual|true) (?:instructions?|task|orders|objective|rules)(?: (?:is|are))?:|from now on,? you (?:are|will|must|should)(?!\\w)|you are now (?:a|an|in|the)(?!\\w))`,
  'role-marker': `<\\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)\\|>|\\[/?INST\\]|<</?SYS>>|<(?:start|end)_of_turn>|</?(?:system|assistant)(?:[-_ ](?:prompt|message|instructions?|reminder))?>|(?:^|\\n|\\\\n)[ \\t#*]{0,8}(?:system|assistant)(?: (?:prompt|message|note|override))?[ *]{0,4}:`,
  'prompt-leak': `(?<![\\dA-Za-z])(?:reveal|print|repeat|output|show|display|send|leak)${GAP}(?:system|initial|hidden|secret|original|developer)${GAP.replace('{0,4}?', '{0,1}?')}(?:prompt|instructions?|message)(?!\\w)`,
  'hide-from-user': `(?<![\\dA-Za-z])(?:do not|don't|never|without) (?:tel{2}|inform|mention|notify|alert|show)(?:ing)?(?: \\w{1,16}){0,4}? (?:the |your )?(?:user|human|operator)(?!\\w)`,
  'for-models': `(?<![\\dA-Za-z])(?:(?:attention|note|message|instructions?|important)[ ,:]{1,3}(?:(?:to|for) )?|if you are |dear )(?:(?:an?|any|the|all|every) )?(?:(?:large|helpful) ){0,2}(?:ais?|llms?|chatbots?|language models?|ai (?:agents?|assistants?|models?))(?!\\w)`,
  exfiltration: `!\\[[^\\]\\n[]{0,200}\\]\\(\\s{0,4}https?://[^)\\s?(]{0,200}\\?[^)\\s(]{0,200}?(?:\\{|<|data=|secret|token|password|prompt)|(?<![\\dA-Za-z])(?:send|post|forward|upload|e-?mail|transmit)${GAP}(?:api keys?|passwords?|credentials?|secrets?|tokens?|conversation|chat history|contacts|e-?mails|files)(?: [\\w'-]{1,20}){0,6}? (?:to|at) (?:https?://|[\\w.+-]{1,64}@)`,
} as const;

/**
 * A rule that finds known wordings of instructions for a model in a text, also with look-alikes and
 * characters that are not shown. It knows wordings, not intentions: another wording, another language
 * or a picture pass. Use it with `untrusted` tools, whose results taint a turn without a finding.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function injectionRule(options: KindRuleOptions<InjectionKind> = {}): TextRule {
  const all = Object.keys(PATTERNS) as InjectionKind[];
  checkOptions('injectionRule', options, { kinds: arrayOf(...all), name: TEXT });
  const { kinds = all, name = 'injection' } = options;
  const patterns = kinds.map((kind) => ({
    kind,
    pattern: inJson(new RegExp(PATTERNS[kind], 'i')),
  }));
  const search = new PatternSearch('injectionRule', patterns, true);
  return { name, scan: (text, from, ended) => scanFolded(search, text, from, ended) };
}
