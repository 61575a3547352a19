import type { JsonSchema } from '../chat/tool-definition.js';
import { ToolError } from '../errors.js';
import { changeTool } from '../tool/change-tool.js';
import { defineTool } from '../tool/define-tool.js';
import type { Tool } from '../tool/tool.js';
import { SEARCH_TURN } from './search-turn.js';

/** What a search tool depends on. */
export interface SearchToolOptions {
  readonly name: string;
  /** Most tools of a search. */
  readonly maxResults: number;
  /** Of the tools that can be found. */
  readonly categories: readonly string[];
}

interface SearchArguments {
  readonly query: string;
  readonly maxResults?: number;
  readonly categoryFilter?: string;
}

const DESCRIPTION =
  'Finds tools that are not in your list yet. Use it whenever the tools that you have do not do what is asked for, before you say ' +
  'that it cannot be done. Describe in `query` what the tool is to do, in plain words: one need for each search, several searches at ' +
  'once for several needs. The tools that it names can be called from then on.';

/** More categories than these are not listed for the model. */
const MAX_CATEGORIES = 50;

/** The tool with which a model finds others. It searches in the turn that it is called in. */
export function searchTool(options: SearchToolOptions): Tool {
  const { name, maxResults: most, categories } = options;
  const tool = defineTool({
    name,
    description: DESCRIPTION,
    input: inputSchema(most, categories.length > 0 ? {} : undefined),
    effect: 'read',
    // a search that fails ends no turn, whatever is done about other tools
    onToolError: 'tell-model',
    execute: (args, { advisorContext, signal }) => {
      const { query, maxResults = most, categoryFilter } = args as unknown as SearchArguments;
      const category = categoryOf(categoryFilter, categories);
      if (query.trim() === '' && category === undefined) throw new ToolError('Say in `query` what the tool is to do.');
      const turn = advisorContext.get(SEARCH_TURN);
      if (!turn) throw new ToolError(`"${name}" can search only in a turn of its ToolSearchAdvisor.`);
      return turn.search({ query, category, maxResults: Math.max(1, Math.min(maxResults, most)), signal });
    },
  });
  if (categories.length === 0 || categories.length > MAX_CATEGORIES) return tool;
  // the model reads the categories; what it makes of them is understood more widely: blank for none, and in any case
  return changeTool(tool, { definition: { ...tool.definition, inputSchema: inputSchema(most, { enum: categories }) } });
}

function inputSchema(maxResults: number, category: JsonSchema | undefined): JsonSchema {
  return {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'What the tool is to do, such as "send an e-mail with an attachment".' },
      maxResults: { type: 'integer', description: `Most tools to find, 1 to ${maxResults}. Default ${maxResults}.` },
      ...(category && { categoryFilter: { type: 'string', ...category, description: 'Only tools of this category.' } }),
    },
    required: ['query'],
  };
}

/** A category as the tools write it; blank is none. */
function categoryOf(filter: string | undefined, categories: readonly string[]): string | undefined {
  if (filter === undefined || filter.trim() === '') return undefined;
  const category = categories.find((one) => one.toLowerCase() === filter.trim().toLowerCase());
  if (category !== undefined) return category;
  throw new ToolError(`There is no category ${JSON.stringify(filter)}. There are: ${categories.slice(0, MAX_CATEGORIES).join(', ')}.`);
}
