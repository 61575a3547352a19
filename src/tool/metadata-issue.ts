import { describe } from '../chat/message.js';
import { isTimeout, TIMEOUT_RULE } from './timeout.js';
import type { ToolMetadata } from './tool.js';

type Rule = readonly [rule: string, holds: (value: unknown) => boolean];

const FLAG: Rule = ['true or false', (value) => typeof value === 'boolean'];
const EFFECTS: readonly unknown[] = ['read', 'idempotent', 'write'];
const POLICIES: readonly unknown[] = ['tell-model', 'throw'];

const RULES = Object.entries({
  returnDirect: FLAG,
  deferred: FLAG,
  alwaysLoaded: FLAG,
  category: ['a non-blank text', (value) => typeof value === 'string' && value.trim() !== ''],
  timeout: [TIMEOUT_RULE, isTimeout],
  effect: ["'read', 'idempotent' or 'write'", (value) => EFFECTS.includes(value)],
  concurrencyKey: ['a function of the arguments', (value) => typeof value === 'function'],
  maxConcurrency: ['a whole number of 1 or more, or Infinity', (value) => isCount(value, 1) || value === Infinity],
  retries: ['a whole number of 0 or more', (value) => isCount(value, 0)],
  onToolError: ["'tell-model', 'throw' or a function", (value) => POLICIES.includes(value) || typeof value === 'function'],
} satisfies Readonly<Record<keyof ToolMetadata, Rule>>) as readonly (readonly [keyof ToolMetadata, Rule])[];

function isCount(value: unknown, min: number): boolean {
  return Number.isInteger(value) && (value as number) >= min;
}

/** What is wrong with how a tool is to be treated, as in `timeout must be …, not 0`; undefined if nothing is. */
export function metadataIssue(metadata: ToolMetadata): string | undefined {
  for (const [name, [rule, holds]] of RULES) {
    const value = metadata[name];
    if (value !== undefined && !holds(value)) return `${name} must be ${rule}, not ${describe(value)}`;
  }
  const { retries = 0, effect } = metadata;
  if (retries > 0 && effect !== 'read' && effect !== 'idempotent')
    return `retries needs the effect 'read' or 'idempotent', not ${describe(effect)}: what may do something is never done twice`;
  return undefined;
}
