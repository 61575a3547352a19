import { INDEXED_KEY, indexedText, type Condition } from './condition.js';

type Comparison = Exclude<Condition, { type: 'all' | 'any' | 'not' }>;

const OPERATORS = { gt: '>', gte: '>=', lt: '<', lte: '<=' };

/**
 * The expression of the index, of a hash, since an index takes no long texts. A condition names it in
 * addition, so that PostgreSQL uses the index.
 */
export const INDEXED = `md5(metadata ->> '${INDEXED_KEY}')`;

/**
 * A filter as a condition on the column `metadata`, of jsonb. Keys and values are parameters.
 * @param values receives the parameters; those before the condition are in it already
 */
export function postgresCondition(condition: Condition, values: unknown[]): string {
  switch (condition.type) {
    case 'all':
      return joined(condition.conditions, 'AND', 'true', values);
    case 'any':
      return joined(condition.conditions, 'OR', 'false', values);
    case 'not':
      return `NOT ${postgresCondition(condition.condition, values)}`;
    default: {
      // null for a missing key
      const sql = `coalesce(${comparisonOf(condition, values)}, false)`;
      const text = indexedText(condition);
      return text === undefined
        ? sql
        : `(${INDEXED} = md5($${values.push(text)}::text) AND ${sql})`;
    }
  }
}

function joined(
  conditions: readonly Condition[],
  operator: 'AND' | 'OR',
  none: string,
  values: unknown[],
): string {
  const parts = conditions.map((each) => postgresCondition(each, values));
  return `(${parts.join(` ${operator} `) || none})`;
}

function comparisonOf(condition: Comparison, values: unknown[]): string {
  const parameter = (value: string): string => `$${values.push(value)}::text`;
  const json = (value: unknown): string => `${parameter(JSON.stringify(value))}::jsonb`;
  const key = parameter(condition.key);
  const value = `(metadata -> ${key})`;
  if (condition.type === 'in')
    return `${value} IN (SELECT jsonb_array_elements(${json(condition.values)}))`;
  if (condition.type === 'contains')
    return `(jsonb_typeof${value} = 'array' AND ${value} @> ${json([condition.value])})`;
  const operator = OPERATORS[condition.type];
  // texts by code points; jsonb compares them in the order of a language
  return typeof condition.value === 'string'
    ? `(jsonb_typeof${value} = 'string' AND (metadata ->> ${key}) COLLATE "C" ${operator} ${parameter(condition.value)})`
    : `(jsonb_typeof${value} = 'number' AND ${value} ${operator} ${json(condition.value)})`;
}
