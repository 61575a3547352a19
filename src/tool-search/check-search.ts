import { describe } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import type { ToolIndexRequest, ToolReference, ToolSearchRequest } from './tool-index.js';

/** How many references a search gives if nobody says how many. */
export const DEFAULT_MAX_RESULTS = 10;

/** @throws {@link InvalidArgumentError} if a session or a reference cannot be used */
export function checkIndexRequest({ session, references }: ToolIndexRequest, where: string): void {
  checkSession(session, where);
  const list: unknown = references;
  if (!Array.isArray(list)) throw new InvalidArgumentError(`${where}: references must be an array, not ${describe(references)}`);
  for (const [at, reference] of references.entries()) {
    const issue = issueOf(reference);
    if (issue !== undefined) throw new InvalidArgumentError(`${where}: references[${at}] ${issue}`);
  }
}

function issueOf(reference: Partial<ToolReference> | undefined): string | undefined {
  const { name, description, inputSchema, category } = reference ?? {};
  if (typeof name !== 'string' || name === '') return `must have a name, not ${describe(name)}`;
  if (typeof description !== 'string') return `("${name}") must have a description, a text, not ${describe(description)}`;
  if (typeof inputSchema !== 'object' || inputSchema === null || Array.isArray(inputSchema))
    return `("${name}") must have an inputSchema, an object, not ${describe(inputSchema)}`;
  if (category !== undefined && typeof category !== 'string') return `("${name}") must have a text as category, not ${describe(category)}`;
  return undefined;
}

/** @throws {@link InvalidArgumentError} if a search cannot be made */
export function checkSearchRequest({ session, query, maxResults, category }: ToolSearchRequest, where: string): void {
  checkSession(session, where);
  if (typeof query !== 'string') throw new InvalidArgumentError(`${where}: query must be a text, not ${describe(query)}`);
  if (maxResults !== undefined && !(Number.isInteger(maxResults) && maxResults >= 1))
    throw new InvalidArgumentError(`${where}: maxResults must be a whole number of 1 or more, not ${describe(maxResults)}`);
  if (category !== undefined && typeof category !== 'string')
    throw new InvalidArgumentError(`${where}: category must be a text, not ${describe(category)}`);
}

function checkSession(session: unknown, where: string): void {
  if (typeof session !== 'string' || session === '')
    throw new InvalidArgumentError(`${where}: session must be a non-empty text, not ${describe(session)}`);
}

/** Whether a reference is of a category; every one is of none. */
export function isOfCategory(reference: ToolReference, category: string | undefined): boolean {
  return category === undefined || reference.category?.toLowerCase() === category.toLowerCase();
}
