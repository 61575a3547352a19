import { jsonData, type JsonValue } from '../internal/json.js';
import {
  checkOption,
  checkOptions,
  isPlainObject,
  oneOf,
  orFunction,
  PLAIN_OBJECT,
  rule,
  TEXT,
  type Rule,
} from '../internal/options.js';
import type { ToolEffect, ToolInvocation } from '../tool/tool.js';

/** Asks a person about a call. */
export interface AskVerdict {
  readonly type: 'ask';
  /** Text for the person. @default names the tool */
  readonly prompt?: string | undefined;
  /** Risk of the call, in words of the application, such as `high`. */
  readonly risk?: string | undefined;
  /** Further values for the person. */
  readonly details?: JsonValue | undefined;
}

/** The decision of a policy about a call. */
export type PolicyVerdict =
  | 'allow'
  | 'ask'
  | 'deny'
  | { readonly type: 'allow' }
  /** Does not run the call; the model reads the reason. */
  | { readonly type: 'deny'; readonly reason?: string | undefined }
  | AskVerdict
  /** Runs the call with other arguments, which the model sees as those of its call. */
  | { readonly type: 'edit'; readonly arguments: Readonly<Record<string, unknown>> };

/** A verdict as an object. */
export type FullVerdict = Exclude<PolicyVerdict, string>;

/** Decides about a call; undefined leaves the decision to the effect of its tool. */
export type PolicyFunction = (
  call: ToolInvocation,
) => PolicyVerdict | undefined | Promise<PolicyVerdict | undefined>;

/**
 * A function for all calls, or rules by the name of the tool, in which `*` stands for any characters:
 * the rule of the exact name, or else the first one that matches.
 */
export type ToolPolicy = PolicyFunction | Readonly<Record<string, PolicyVerdict | PolicyFunction>>;

/** The verdicts on calls that no rule decides, by the effect of the tool. */
export type EffectPolicy = Readonly<Partial<Record<ToolEffect, 'allow' | 'ask' | 'deny'>>>;

const SHORT = oneOf('allow', 'ask', 'deny');
const JSON_OBJECT = rule('an object', isPlainObject);
const TYPE = oneOf('allow', 'ask', 'deny', 'edit');
const VERDICT: Rule = rule(
  "'allow', 'ask', 'deny' or an object { type: 'allow' | 'deny' | 'ask' | 'edit' }",
  (value) => SHORT.accepts(value) || (isPlainObject(value) && TYPE.accepts(value['type'])),
);
const POLICY: Rule = rule('a function or an object of rules by the name of the tool', (value) =>
  orFunction(PLAIN_OBJECT).accepts(value),
);
const JSON_DATA = rule('JSON data', (value) => jsonData(value) !== undefined);
const FIELDS = { prompt: TEXT, risk: TEXT, reason: TEXT, details: JSON_DATA };

/** @throws {@link InvalidArgumentError} if a rule is no function and no verdict */
export function checkPolicy(where: string, policy: ToolPolicy, effects: EffectPolicy = {}): void {
  checkOption(where, 'policy', policy, POLICY);
  if (typeof policy !== 'function')
    for (const [name, each] of Object.entries(policy))
      if (typeof each !== 'function') checkVerdict(where, `policy["${name}"]`, each);
  checkOption(where, 'effects', effects, PLAIN_OBJECT);
  checkOptions(where, effects, { read: SHORT, idempotent: SHORT, write: SHORT }, 'effects.');
}

/** @throws {@link InvalidArgumentError} if it is no verdict */
function checkVerdict(where: string, name: string, verdict: unknown): FullVerdict {
  checkOption(where, name, verdict, VERDICT);
  if (typeof verdict === 'string') return { type: verdict as 'allow' | 'ask' | 'deny' };
  const full = verdict as FullVerdict;
  checkOptions<Readonly<Record<string, unknown>>>(where, { ...full }, FIELDS, `${name}.`);
  if (full.type === 'edit') checkOption(where, `${name}.arguments`, full.arguments, JSON_OBJECT);
  return full;
}

interface Pattern {
  readonly text: RegExp;
  readonly rule: PolicyVerdict | PolicyFunction;
}

const DEFAULTS: Required<EffectPolicy> = { read: 'allow', idempotent: 'ask', write: 'ask' };

/** The policy of an advisor. */
export class Policy {
  private readonly exact: ReadonlyMap<string, PolicyVerdict | PolicyFunction>;
  private readonly patterns: readonly Pattern[];
  private readonly effects: Required<EffectPolicy>;

  constructor(
    private readonly where: string,
    private readonly policy: ToolPolicy,
    effects: EffectPolicy,
  ) {
    const rules = typeof policy === 'function' ? [] : Object.entries(policy);
    this.exact = new Map(rules.filter(([name]) => !name.includes('*')));
    this.patterns = rules
      .filter(([name]) => name.includes('*'))
      .map(([name, each]) => ({ text: toPattern(name), rule: each }));
    const { read, idempotent, write } = DEFAULTS;
    const { read: ofRead = read, idempotent: ofIdempotent = idempotent } = effects;
    this.effects = { read: ofRead, idempotent: ofIdempotent, write: effects.write ?? write };
  }

  /** The verdict on a call, or the function that has it. */
  ruleOf({ tool }: ToolInvocation): FullVerdict | PolicyFunction {
    const { policy, exact, patterns } = this;
    const { name } = tool.definition;
    if (typeof policy === 'function') return policy;
    const found = exact.get(name) ?? patterns.find(({ text }) => text.test(name))?.rule;
    if (typeof found === 'function') return found;
    return typeof found === 'string' ? { type: found } : (found ?? this.byEffect(tool.metadata));
  }

  /** @throws the error of the function, {@link InvalidArgumentError} if it returns something else */
  async call(decide: PolicyFunction, call: ToolInvocation): Promise<FullVerdict> {
    const verdict = await decide(call);
    return verdict === undefined
      ? this.byEffect(call.tool.metadata)
      : checkVerdict(this.where, 'the result of policy', verdict);
  }

  /** A tool that declares no effect may have any. */
  private byEffect({ effect = 'write' }: ToolInvocation['tool']['metadata']): FullVerdict {
    return { type: this.effects[effect] };
  }
}

function toPattern(name: string): RegExp {
  const parts = name.split('*').map((part) => part.replaceAll(/[$()+.?[\\\]^{|}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
