import type { JsonSchema } from '../../src/core/chat/tool-definition.js';
import { ToolError } from '../../src/core/errors/errors.js';
import { jsonSchemaValidator } from '../../src/core/json-schema/validator.js';
import type { Tool } from '../../src/core/tool/tool.js';
import { SEARCH_TURN } from './search-turn.js';

interface SearchArguments {
  readonly query: string;
  readonly maxResults?: number;
  readonly categoryFilter?: string;
}

const DESCRIPTION =
  'Finds tools that are not in your list yet. Use it whenever the tools that you have do not do ' +
  'what is asked for, before you answer that it cannot be done. Describe in `query` what the tool ' +
  'is to do, in plain words: one need for each search, several searches at once for several ' +
  'needs. The tools that it names can be called from then on.';

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
  const accepted = inputSchema(maxResults, categories.length > 0 ? {} : undefined);
  const listed = categories.length > 0 && categories.length <= MAX_CATEGORIES;
  return {
    definition: {
      name,
      description: DESCRIPTION,
      inputSchema: listed ? inputSchema(maxResults, { enum: categories }) : accepted,
    },
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

function inputSchema(maxResults: number, category: JsonSchema | undefined): JsonSchema {
  return {
    type: 'object',
    properties: {
      query: {
        type: 'string',
        description: 'What the tool is to do, such as "send an e-mail with an attachment".',
      },
      maxResults: {
        type: 'integer',
        description: `Most tools to find, 1 to ${maxResults}. Default ${maxResults}.`,
      },
      ...(category && {
        categoryFilter: {
          type: 'string',
          ...category,
          description: 'Only tools of this category.',
        },
      }),
    },
    required: ['query'],
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
