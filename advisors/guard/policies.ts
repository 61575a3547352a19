import { InvalidArgumentError, GuardError, type GuardPlace } from '../../src/core/errors/errors.js';
import { Cancellation } from '../../src/core/internal/cancellation.js';
import { describe } from '../../src/core/errors/describe.js';
import { runCheck, type CheckScope } from './check-run.js';
import {
  isTextRule,
  rulesOf,
  type GuardAction,
  type GuardAdvisorOptions,
  type GuardPolicy,
  type GuardRule,
} from './guard-options.js';
import type { CheckRule, GuardFinding, GuardVerdict, TextRule, TextScan } from './guard-rule.js';
import { redact } from './redaction.js';

/** Findings of a rule; with `failed`, it could not judge the text, which passes all the same. */
export interface Hit {
  readonly policy: GuardPolicy;
  readonly rule: string;
  readonly kinds: readonly string[];
  readonly failed?: boolean;
}

interface Entry<R extends GuardRule> {
  readonly policy: GuardPolicy;
  readonly rule: R;
}

/** The policies for one place, and what their rules find. */
export class Policies {
  private readonly texts: readonly Entry<TextRule>[];
  private readonly checks: readonly Entry<CheckRule>[];

  constructor(
    readonly guard: string,
    readonly where: GuardPlace,
    policies: readonly GuardPolicy[],
    readonly options: Pick<GuardAdvisorOptions, 'replacement' | 'onFinding'> = {},
  ) {
    const entries = policies.flatMap((policy) => rulesOf(policy).map((rule) => ({ policy, rule })));
    this.texts = entries.filter((entry): entry is Entry<TextRule> => isTextRule(entry.rule));
    this.checks = entries.filter((entry): entry is Entry<CheckRule> => !isTextRule(entry.rule));
  }

  /** True if rules judge whole texts, which takes time. */
  get hasChecks(): boolean {
    return this.checks.length > 0;
  }

  /** True if a check may refuse a text, which must not be shown before. */
  get holdsWhole(): boolean {
    return this.checks.some(({ policy }) => isStop(policy));
  }

  /**
   * Findings in a text, in the order of the places.
   * @throws {@link GuardError} if a rule fails, and its policy fails closed
   */
  scan(text: string, inToolCall = false): readonly Hit[] {
    const found: { readonly start: number; readonly hit: Hit }[] = [];
    for (const entry of this.texts) {
      const { policy, rule } = entry;
      if (inToolCall && policy.toolCalls === false) continue;
      try {
        const { findings } = search(rule, text, 0, true);
        for (const { start, kind } of findings)
          found.push({ start, hit: { policy, rule: rule.name, kinds: [kind] } });
      } catch (cause) {
        found.push({ start: 0, hit: this.failure(entry, cause) });
      }
    }
    return found.toSorted((a, b) => a.start - b.start).map(({ hit }) => hit);
  }

  /** The text without what the rules of `redact` find; `removed` gets that. */
  redact(text: string, inToolCall: boolean, removed: string[]): string {
    const entries = this.texts.filter(
      ({ policy: { action, toolCalls } }) =>
        action === 'redact' && !(inToolCall && toolCalls === false),
    );
    const rules = entries.map((entry) => this.contained(entry));
    const result = redact(text, rules, this.options.replacement);
    for (const { start, end } of result.findings) removed.push(text.slice(start, end));
    return result.text;
  }

  /** Rules for a stream: `onFound` is called for what ends the answer. */
  streamRules(onFound: (hit: Hit, start: number) => void): readonly TextRule[] {
    const shown = ({ policy }: Entry<TextRule>): boolean =>
      isStop(policy) || policy.action === 'redact';
    return this.texts.filter(shown).map((entry) => {
      const { policy } = entry;
      const rule = this.contained(entry);
      if (!isStop(policy)) return rule;
      const { name } = rule;
      const watched: TextRule['scan'] = (text, from, ended) => {
        const result = rule.scan(text, from, ended);
        const [first] = result.findings;
        if (first) onFound({ policy, rule: name, kinds: [first.kind] }, first.start);
        return result;
      };
      return { name, scan: watched };
    });
  }

  /**
   * Findings of the rules for whole texts, which run at the same time.
   * @throws {@link GuardError} if a rule fails, and its policy fails closed
   * @throws {@link CancelledError} if the run is cancelled
   */
  async check(text: string, scope: CheckScope): Promise<readonly Hit[]> {
    if (text.trim() === '') return [];
    // when one fails, the others need not continue
    const all = new Cancellation(undefined, scope.cancellation.owner);
    const release = scope.cancellation.onCancel((reason) => all.cancel(reason));
    try {
      const own = { ...scope, cancellation: all };
      const hits = await Promise.all(this.checks.map((entry) => this.checkBy(entry, text, own)));
      return hits.filter((hit) => hit !== undefined);
    } finally {
      release();
      all.cancel();
    }
  }

  private async checkBy(
    entry: Entry<CheckRule>,
    text: string,
    scope: CheckScope,
  ): Promise<Hit | undefined> {
    const { policy, rule } = entry;
    try {
      const timeout = policy.timeout ?? 30_000;
      const verdict = await runCheck(rule, text, this.where, { ...scope, timeout });
      const { flagged, kinds = [rule.name] } = checkedVerdict(rule, verdict);
      return flagged ? { policy, rule: rule.name, kinds } : undefined;
    } catch (cause) {
      if (scope.cancellation.cancelled) throw cause;
      return this.failure(entry, cause);
    }
  }

  /** The error of a rule with `action: 'throw'`. */
  error({ rule }: Hit): GuardError {
    const { guard, where } = this;
    return new GuardError(
      `The guard "${guard}" refused the ${NAMES[where]}: its rule "${rule}" found something; show a message of your own.`,
      { where, rules: [rule], reason: 'found' },
    );
  }

  private contained(entry: Entry<TextRule>): TextRule {
    const { name } = entry.rule;
    const scan: TextRule['scan'] = (text, from, ended) => {
      try {
        return search(entry.rule, text, from, ended);
      } catch (cause) {
        this.failure(entry, cause);
        return { findings: [], settled: text.length };
      }
    };
    return { name, scan };
  }

  private failure({ policy, rule: { name } }: Entry<GuardRule>, cause: unknown): Hit {
    const { guard, where } = this;
    if (policy.onFailure === 'open') return { policy, rule: name, kinds: [], failed: true };
    throw new GuardError(
      `The guard "${guard}" refused the ${NAMES[where]}: its rule "${name}" failed. See the cause; onFailure: 'open' lets texts pass that the rule cannot judge.`,
      { where, rules: [name], reason: 'failed', cause },
    );
  }
}

/** Findings of a rule; foreign code may return anything, such as a promise. */
function search(each: TextRule, text: string, from: number, ended: boolean): TextScan {
  const result = each.scan(text, from, ended);
  const findings = result?.findings;
  const isValid = Array.isArray(findings) && result.settled <= text.length;
  if (isValid && findings.every(isPlace)) return result;
  throw new InvalidArgumentError(
    `the rule "${each.name}" must return { findings, settled } with places in the text, not ${describe(result)}`,
  );
}

function isPlace({ start, end }: GuardFinding): boolean {
  return start >= 0 && start <= end;
}

function checkedVerdict({ name }: CheckRule, verdict: GuardVerdict): GuardVerdict {
  if (typeof verdict?.flagged === 'boolean') return verdict;
  throw new InvalidArgumentError(
    `the rule "${name}" must return { flagged: true or false }, not ${describe(verdict)}`,
  );
}

const NAMES: Readonly<Record<GuardPlace, string>> = {
  input: 'question',
  output: 'answer',
  'tool-result': 'result of a tool',
};

function isStop({ action }: GuardPolicy): boolean {
  return action === 'block' || action === 'throw';
}

/** The first hit that ends the turn, or the answer. */
export function stopOf(hits: readonly Hit[]): Hit | undefined {
  return hits.find(({ policy, failed }) => !failed && isStop(policy));
}

/** The kinds of hits with this action, each once. */
export function kindsOf(hits: readonly Hit[], action: GuardAction): readonly string[] {
  const own = hits.filter(({ policy, failed }) => !failed && policy.action === action);
  return [...new Set(own.flatMap(({ kinds }) => kinds))];
}
