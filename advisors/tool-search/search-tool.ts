import { ToolError } from '../../src/core/errors/errors.js';
import { jsonSchemaValidator } from '../../src/core/json-schema/validator.js';
import type { Tool } from '../../src/core/tool/tool.js';
import { searchSchema, searchToolDefinition } from './search-tool-definition.js';
import { SEARCH_TURN } from './search-turn.js';

interface SearchArguments {
  readonly query: string;
  readonly maxResults?: number;
  readonly categoryFilter?: string;
}

/** Maximum number of categories listed for the model. */
const MAX_CATEGORIES = 50;

/**
 * Creates the tool that a model calls to find others; it searches in the current turn.
 * @param maxResults maximum number of tools of a search
 * @param categories categories of the tools that can be found
 */
export function searchTool(
  name: string,
  maxResults: number,
  categories: readonly string[] = [],
): Tool {
  // The check of arguments accepts any category; the tool answers an unknown one with the list.
  const accepted = searchSchema(maxResults, categories.length > 0 ? {} : undefined);
  const listed = categories.length > 0 && categories.length <= MAX_CATEGORIES;
  return {
    definition: searchToolDefinition(
      name,
      listed ? searchSchema(maxResults, { enum: categories }) : accepted,
    ),
    // a failed search ends no turn, whatever the option for other tools is
    metadata: { effect: 'read', onToolError: 'send-to-model', findsTools: true },
    validate: jsonSchemaValidator(accepted),
    call: (args, { advisorContext, signal }) => {
      const { query, maxResults: wanted = maxResults, categoryFilter } = args as SearchArguments;
      const category = categoryOf(categoryFilter, categories);
      if (query.trim() === '' && category === undefined)
        throw new ToolError('Describe in `query` what the tool is to do.');
      const turn = advisorContext.get(SEARCH_TURN);
      if (!turn)
        throw new ToolError(`"${name}" can search only in a turn of its ToolSearchAdvisor.`);
      const count = Math.max(1, Math.min(wanted, maxResults));
      return turn.search({ query, category, maxResults: count, signal });
    },
  };
}

/** Returns a category as the tools spell it; undefined for a blank filter. */
function categoryOf(filter: string | undefined, categories: readonly string[]): string | undefined {
  if (filter === undefined || filter.trim() === '') return undefined;
  const category = categories.find((one) => one.toLowerCase() === filter.trim().toLowerCase());
  if (category !== undefined) return category;
  const listed = categories.slice(0, MAX_CATEGORIES).join(', ');
  throw new ToolError(`There is no category ${JSON.stringify(filter)}. There are: ${listed}.`);
}
