import { jsonData } from '../../src/core/internal/json-data.js';
import type { JsonValue } from '../../src/core/internal/json.js';
import {
  CHECKED_APART,
  checkOption,
  checkOptions,
  isPlainObject,
  oneOf,
  orFunction,
  PLAIN_OBJECT,
  rule,
  TEXT,
  type Rule,
} from '../../src/core/internal/options.js';
import type { OfferedTool } from '../../src/core/chat/tool-definition.js';
import type { InferToolInput, Tool, ToolEffect, ToolInvocation } from '../../src/core/tool/tool.js';

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
  /** Runs the call with other arguments, which replace the model's in the conversation. */
  | { readonly type: 'edit'; readonly arguments: Readonly<Record<string, unknown>> };

/** A verdict as an object. */
export type FullVerdict = Exclude<PolicyVerdict, string>;

/** Decides about a call; undefined leaves the decision to the effect of its tool. */
export type PolicyFunction<Input = unknown> = (
  call: ToolInvocation<Input>,
) => PolicyVerdict | undefined | Promise<PolicyVerdict | undefined>;

/**
 * A function for all calls, or rules by the name of the tool, in which `*` matches any characters:
 * the rule of the exact name, or else the first one that matches. With `T`, the types of tools, names
 * are theirs, and functions get the arguments of their tool.
 */
export type ToolPolicy<T extends OfferedTool = never> =
  | PolicyFunction
  | ([T] extends [never] ? Readonly<Record<string, PolicyVerdict | PolicyFunction>> : RulesOf<T>);

type RulesOf<T extends OfferedTool> = {
  readonly [Each in T as Each['definition']['name']]?:
    PolicyVerdict | PolicyFunction<InferToolInput<Each>>;
} & { readonly [pattern: `${string}*${string}`]: PolicyVerdict | PolicyFunction };

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
const FIELDS = {
  type: TYPE,
  arguments: CHECKED_APART,
  prompt: TEXT,
  risk: TEXT,
  reason: TEXT,
  details: JSON_DATA,
};

/** @throws {@link InvalidArgumentError} if a rule is neither a function nor a verdict */
export function checkPolicy(where: string, policy: ToolPolicy, effects: EffectPolicy = {}): void {
  checkOption(where, 'policy', policy, POLICY);
  if (typeof policy !== 'function')
    for (const [name, each] of Object.entries(policy))
      if (typeof each !== 'function') checkVerdict(where, `policy["${name}"]`, each);
  checkOption(where, 'effects', effects, PLAIN_OBJECT);
  checkOptions(where, effects, { read: SHORT, idempotent: SHORT, write: SHORT }, 'effects.');
}

/** @throws {@link InvalidArgumentError} if it is not a verdict */
function checkVerdict(where: string, name: string, verdict: unknown): FullVerdict {
  checkOption(where, name, verdict, VERDICT);
  if (typeof verdict === 'string') return { type: verdict as 'allow' | 'ask' | 'deny' };
  const full = verdict as FullVerdict;
  checkOptions<Readonly<Record<string, unknown>>>(where, { ...full }, FIELDS, `${name}.`);
  if (full.type === 'edit') checkOption(where, `${name}.arguments`, full.arguments, JSON_OBJECT);
  return full;
}

interface Pattern {
  readonly name: string;
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
      .map(([name, each]) => ({ name, text: toPattern(name), rule: each }));
    const { read, idempotent, write } = DEFAULTS;
    const { read: ofRead = read, idempotent: ofIdempotent = idempotent } = effects;
    this.effects = { read: ofRead, idempotent: ofIdempotent, write: effects.write ?? write };
  }

  /** The verdict on a call, or the function that has it. */
  ruleOf({ tool }: Pick<ToolInvocation, 'tool'>): FullVerdict | PolicyFunction {
    const { policy, exact, patterns } = this;
    const { name } = tool.definition;
    if (typeof policy === 'function') return policy;
    const found = exact.get(name) ?? patterns.find(({ text }) => text.test(name))?.rule;
    if (typeof found === 'function') return found;
    return typeof found === 'string' ? { type: found } : (found ?? this.byEffect(tool.metadata));
  }

  /** Names and patterns of rules that fit none of the tools. */
  unusedFor(tools: readonly Tool[]): readonly string[] {
    const known = tools.map(({ definition }) => definition.name);
    const names = [...this.exact.keys()].filter((name) => !known.includes(name));
    const patterns = this.patterns.filter(({ text }) => !known.some((name) => text.test(name)));
    return [...names, ...patterns.map(({ name }) => name)];
  }

  /** The name of a tool that a person has to decide about. */
  askedOf(tools: readonly Tool[]): string | undefined {
    return tools.find((tool) => {
      const rule = this.ruleOf({ tool });
      return typeof rule !== 'function' && rule.type === 'ask';
    })?.definition.name;
  }

  /** True if a rule names people, whatever the tools; without any rule, if the effects do. */
  get asksPeople(): boolean {
    if (typeof this.policy === 'function') return false;
    const rules = Object.values(this.policy);
    return rules.length === 0
      ? Object.values(this.effects).includes('ask')
      : rules.some((each) => each === 'ask' || (typeof each === 'object' && each.type === 'ask'));
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
