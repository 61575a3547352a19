import type { JsonSchema } from '../chat/tool-definition.js';
import { isPlainObject } from '../internal/options.js';
import { EXCEEDED, type CheckSteps } from './check-steps.js';
import { issue, NONE, type Issues, type Scope } from './issues.js';
import { decodeReference, valueAt } from './json-pointer.js';
import { KEYWORDS } from './keywords.js';
import { MAX_ISSUES } from './standard-schema.js';

/** Maximum number of schemas inside each other: more would not fit the stack. */
const MAX_DEPTH = 1_200;
/** Steps of a schema that a value does not fit. */
const STEPS_OF_ISSUES = 3;

/**
 * Checks one value by a JSON Schema, in time proportional to schema and value: a schema that is
 * referred to is applied to each value once, however many alternatives lead to it.
 */
export class SchemaCheck implements Scope {
  private depth = 0;
  /** Issues by the schema that is referred to and the value. */
  private known: Map<unknown, Map<unknown, Issues | undefined>> | undefined;

  constructor(
    private readonly root: JsonSchema,
    readonly steps: CheckSteps,
  ) {}

  /**
   * The issues, none for a valid value.
   * @throws {@link EXCEEDED}
   */
  issuesOf(schema: unknown, value: unknown): Issues {
    this.steps.take();
    if (schema === false) return issue(() => 'is not allowed here');
    if (!isPlainObject(schema)) return NONE;
    if (++this.depth > MAX_DEPTH) throw EXCEEDED;
    const kind = Array.isArray(value) ? 'array' : value !== null && typeof value;
    let found: [rank: number, issues: Issues][] | undefined;
    for (const name in schema) {
      const keyword = KEYWORDS.get(name);
      if (!keyword || (keyword.kind !== undefined && keyword.kind !== kind)) continue;
      const issues = keyword.check(value as never, schema[name], this, schema);
      if (issues !== NONE) (found ??= []).push([keyword.rank, issues]);
    }
    this.depth--;
    if (!found) return NONE;
    this.steps.take(STEPS_OF_ISSUES);
    return inOrder(found);
  }

  isValid(schema: unknown, value: unknown): boolean {
    return this.issuesOf(schema, value) === NONE;
  }

  issuesByReference(reference: unknown, value: unknown): Issues {
    const target = this.targetOf(reference);
    this.known ??= new Map();
    const known = this.known.get(target) ?? new Map<unknown, Issues | undefined>();
    this.known.set(target, known);
    if (!known.has(value)) known.set(value, undefined).set(value, this.issuesOf(target, value));
    const issues = known.get(value);
    // the reference leads back to itself with the same value
    if (!issues) throw EXCEEDED;
    return issues;
  }

  targetOf(reference: unknown): unknown {
    const isLocal = typeof reference === 'string' && /^#(?:\/|$)/.test(reference);
    const target = isLocal ? valueAt(this.root, decodeReference(reference)) : undefined;
    if (target === undefined) throw new Error(`Unresolved $ref "${String(reference)}".`);
    return target;
  }
}

function inOrder(found: [rank: number, issues: Issues][]): Issues {
  const [first] = found;
  // flatMap takes many times as long as the rest of a check
  if (found.length === 1 && first && first[1].length <= MAX_ISSUES) return first[1];
  const sorted = found.sort(([rank], [other]) => rank - other);
  return sorted.flatMap(([, issues]) => issues).slice(0, MAX_ISSUES);
}
