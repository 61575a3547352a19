import { AdvisorOrder } from '../../src/core/advisor/advisor.js';
import {
  placeOf,
  type AdvisorPlace,
  type CheckedPlace,
} from '../../src/core/advisor/advisor-place.js';
import { InvalidArgumentError, type GuardPlace } from '../../src/core/errors/errors.js';
import {
  BOOLEAN,
  CHECKED_APART,
  checkOption,
  checkOptions,
  FINITE,
  FUNCTION,
  hasMethods,
  isPlainObject,
  oneOf,
  PLAIN_OBJECT,
  rule,
  TEXT,
  TIMEOUT,
} from '../../src/core/internal/options.js';
import type { ToolInvocation } from '../../src/core/tool/tool.js';
import type { CheckRule, TextRule } from './guard-rule.js';
import type { Replacement } from './redaction.js';

/** A rule of a guard: one that finds places in a text, or one that judges a whole text. */
export type GuardRule = TextRule | CheckRule;

/**
 * Handling of a text in which a rule found something:
 *
 * - `block`: the turn gets another answer, the model another result of a tool;
 * - `throw`: the turn ends with a `GuardError`;
 * - `redact`: what was found is replaced by its kind, such as `[email]`;
 * - `mark`: questions and answers get the kinds in `metadata.guard`; the result of a tool becomes
 *   delimited data, and the turn is tainted;
 * - `warn`: nothing, besides the event `guard`, which the other actions emit too.
 */
export type GuardAction = 'block' | 'throw' | 'redact' | 'mark' | 'warn';

/** Rules with an action. */
export interface GuardPolicy {
  /** At least one. Rules that judge a whole text cannot `redact`. */
  readonly rules: GuardRule | readonly GuardRule[];
  readonly action: GuardAction;
  /** Answer of a blocked turn, or result of a blocked tool call. @default a polite refusal */
  readonly answer?: string | undefined;
  /**
   * Handling of a rule that throws or takes too long: the turn ends with a `GuardError`, or the text
   * passes with an event `guard`. @default 'closed'
   */
  readonly onFailure?: 'closed' | 'open' | undefined;
  /** Milliseconds for a check of a whole text, > 0, or Infinity. @default 30_000 */
  readonly timeout?: number | undefined;
  /**
   * Of answers: looks at the arguments of tool calls, too. False lets a tool get an address that the
   * text must not show. @default true
   */
  readonly toolCalls?: boolean | undefined;
}

/** Options of a `GuardAdvisor`; one of `input`, `output`, `toolResults` and `untrusted` is required. */
export interface GuardAdvisorOptions extends AdvisorPlace {
  /** Policies for the new message of the user. @default none */
  readonly input?: readonly GuardPolicy[] | undefined;
  /**
   * Policies for each answer of the model, with its reasoning and its tool calls, and for results of
   * tools that are answers (`returnDirect`). @default none
   */
  readonly output?: readonly GuardPolicy[] | undefined;
  /**
   * Policies for results of tools, and for documents that an advisor retrieves, before the model gets
   * them. @default none
   */
  readonly toolResults?: readonly GuardPolicy[] | undefined;
  /**
   * Names of the tools whose results others have written, such as pages and mails, or a function of
   * a name; with `toolResults` too, tools with `untrusted: true` count, such as all of an MCP server
   * without `trusted`. Their results become delimited data, and taint the turn. @default none more
   */
  readonly untrusted?: readonly string[] | ((toolName: string) => boolean) | undefined;
  /**
   * Decides if a tool that may change something (each one without `effect: 'read'`) may run in a
   * turn that is tainted. @default none may
   */
  readonly approve?: ((call: ToolInvocation) => boolean | Promise<boolean>) | undefined;
  /**
   * Time at which a stream shows text: as soon as nothing that a rule would remove can begin in it;
   * at once, with a `retract` if a rule objects later; or with the whole answer. Rules that judge a
   * whole text make `checked` the same as `end`. @default 'checked'
   */
  readonly release?: 'checked' | 'after' | 'end' | undefined;
  /**
   * Judges the whole question while the model works on it. Nothing is shown or stored, and no tool
   * runs, before the verdict. @default false
   */
  readonly parallel?: boolean | undefined;
  /** Listener for the data of the event `guard`, which calls do not have. @default none */
  readonly onFinding?: ((report: GuardReport) => void) | undefined;
  /** Text in the place of a finding of a kind. @default `[kind]` */
  readonly replacement?: Replacement | undefined;
  /** Position, left of the memory. @default AdvisorOrder.GUARD */
  readonly order?: number | undefined;
  /** Position for answers, right of the memory. @default AdvisorOrder.TOOL_CALLING + 100 */
  readonly outputOrder?: number | undefined;
}

/** Data of the event `guard`: names and kinds, never a part of the text. */
export interface GuardReport {
  /** Name of the advisor. */
  readonly guard: string;
  readonly where: GuardPlace | 'tool-call';
  /** `pass`: a rule failed, and its policy lets the text pass; `refuse`: a tool did not run. */
  readonly action: GuardAction | 'pass' | 'refuse';
  /** Names of the rules. */
  readonly rules: readonly string[];
  /** Kinds of what they found. */
  readonly kinds: readonly string[];
  /** The tool, or the advisor that brought a document. */
  readonly toolName?: string | undefined;
}

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    guard: GuardReport;
  }
}

const NAME = 'GuardAdvisor';
const RULES = {
  input: CHECKED_APART,
  output: CHECKED_APART,
  toolResults: CHECKED_APART,
  untrusted: rule('an array of names of tools, or a function', isNames),
  approve: FUNCTION,
  release: oneOf('checked', 'after', 'end'),
  parallel: BOOLEAN,
  onFinding: FUNCTION,
  replacement: FUNCTION,
  outputOrder: FINITE,
};
const POLICY_RULES = {
  rules: CHECKED_APART,
  action: CHECKED_APART,
  answer: TEXT,
  onFailure: oneOf('closed', 'open'),
  timeout: TIMEOUT,
  toolCalls: BOOLEAN,
};
const POLICIES = rule('an array of policies { rules, action }', Array.isArray);
const ACTION = oneOf('block', 'throw', 'redact', 'mark', 'warn');
const AT_LEAST_ONE = rule('at least one rule', (value) => (value as unknown[]).length > 0);
const GUARD_RULE = rule(
  'a rule with a name, and a method scan or check, not both',
  (value) =>
    TEXT.accepts((value as Partial<GuardRule> | undefined)?.name) &&
    hasMethods(value, ['scan']) !== hasMethods(value, ['check']),
);

function isNames(value: unknown): boolean {
  return typeof value === 'function' || (Array.isArray(value) && value.every(TEXT.accepts));
}

/** @throws {@link InvalidArgumentError} if an option is invalid, or there is nothing to guard */
export function checkGuardOptions(options: GuardAdvisorOptions): CheckedPlace {
  checkOption(NAME, 'the argument', options, PLAIN_OBJECT);
  const place = placeOf(NAME, options, RULES, { name: 'guard', order: AdvisorOrder.GUARD });
  const { input, output, toolResults, untrusted } = options;
  for (const [field, policies] of Object.entries({ input, output, toolResults }))
    if (policies !== undefined) checkPolicies(NAME, field, policies);
  if (!input && !output && !toolResults && !untrusted)
    throw new InvalidArgumentError(
      `${NAME}: give policies for input, output or toolResults, or names of untrusted tools`,
    );
  return place;
}

function checkPolicies(where: string, field: string, policies: readonly GuardPolicy[]): void {
  checkOption(where, field, policies, POLICIES);
  for (const [at, policy] of policies.entries()) {
    const path = `${field}[${at}]`;
    checkOption(where, path, policy, rule('an object { rules, action }', isPlainObject));
    checkOption(where, `${path}.action`, policy.action, ACTION);
    checkOptions(where, policy, POLICY_RULES, `${path}.`);
    const rules = rulesOf(policy);
    checkOption(where, `${path}.rules`, rules, AT_LEAST_ONE);
    for (const each of rules) {
      checkOption(where, `${path}.rules`, each, GUARD_RULE);
      if (policy.action === 'redact' && !isTextRule(each))
        throw new InvalidArgumentError(
          `${where}: ${path}: the rule "${each.name}" judges whole texts and cannot redact; use block`,
        );
    }
  }
}

/** The rules of a policy as a list. */
export function rulesOf({ rules }: GuardPolicy): readonly GuardRule[] {
  return Array.isArray(rules) ? (rules as readonly GuardRule[]) : [rules as GuardRule];
}

export function isTextRule(each: GuardRule): each is TextRule {
  return 'scan' in each;
}
