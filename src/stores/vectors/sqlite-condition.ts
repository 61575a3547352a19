import type { Scalar } from '../../core/chat/document.js';
import { INDEXED_KEY, indexedText, type Condition } from './condition.js';

/** A condition of SQLite, and the values of its parameters in their order. */
export interface SqlCondition {
  readonly sql: string;
  readonly values: readonly string[];
}

type Comparison = Exclude<Condition, { type: 'all' | 'any' | 'not' }>;

const OPERATORS = { gt: '>', gte: '>=', lt: '<', lte: '<=' };
const NUMBER = `IN ('integer', 'real')`;
const TEXT = `= 'text'`;

/**
 * A filter as a condition on a column with metadata as JSON. Values are parameters, as JSON too, so that
 * SQLite reads the numbers of both sides in the same way; keys are compared and never part of a path.
 */
export function sqliteCondition(condition: Condition, column: string): SqlCondition {
  switch (condition.type) {
    case 'all':
      return joined(condition.conditions, 'AND', '1', column);
    case 'any':
      return joined(condition.conditions, 'OR', '0', column);
    case 'not': {
      const { sql, values } = sqliteCondition(condition.condition, column);
      return { sql: `NOT ${sql}`, values };
    }
    default: {
      const { sql, values } = comparisonOf(condition);
      const text = indexedText(condition);
      const isIndexed = text === undefined ? '' : `${indexed(column)} = ? AND `;
      return {
        sql: `(${isIndexed}EXISTS (SELECT 1 FROM json_each(${column}) AS m WHERE m.key = ? AND ${sql}))`,
        values: [...(text === undefined ? [] : [text]), condition.key, ...values],
      };
    }
  }
}

/** The expression of the index; a condition names it in addition, so that SQLite uses the index. */
export function indexed(column: string): string {
  return `json_extract(${column}, '$.${INDEXED_KEY}')`;
}

function joined(
  conditions: readonly Condition[],
  operator: 'AND' | 'OR',
  none: string,
  column: string,
): SqlCondition {
  const parts = conditions.map((each) => sqliteCondition(each, column));
  const sql = parts.map((part) => part.sql).join(` ${operator} `) || none;
  return { sql: `(${sql})`, values: parts.flatMap(({ values }) => values) };
}

function comparisonOf(condition: Comparison): SqlCondition {
  if (condition.type === 'in') return isOneOf('m', condition.values);
  if (condition.type === 'contains') {
    const { sql, values } = isOneOf('e', [condition.value]);
    // SQLite may evaluate both sides of an AND, and a text is no JSON
    const elements = `json_each(CASE m.type WHEN 'array' THEN m.value ELSE '[]' END) AS e`;
    return { sql: `EXISTS (SELECT 1 FROM ${elements} WHERE ${sql})`, values };
  }
  const { type, value } = condition;
  const sql = `m.type ${typeof value === 'number' ? NUMBER : TEXT} AND m.value ${OPERATORS[type]} (SELECT value FROM json_each(?))`;
  return { sql, values: [JSON.stringify([value])] };
}

/** @param row of `json_each` */
function isOneOf(row: string, scalars: readonly Scalar[]): SqlCondition {
  const one = (type: string): string =>
    `${row}.type ${type} AND ${row}.value IN (SELECT value FROM json_each(?))`;
  const of = (type: string): string =>
    JSON.stringify(scalars.filter((each) => typeof each === type));
  const flags = scalars.filter((each) => typeof each === 'boolean').map((each) => `'${each}'`);
  const sql = `(${one(TEXT)} OR ${one(NUMBER)} OR ${row}.type IN (${flags.join()}))`;
  return { sql, values: [of('string'), of('number')] };
}
