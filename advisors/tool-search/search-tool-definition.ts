import type { JsonSchema, ToolDefinition } from '../../src/core/chat/tool-definition.js';

const DESCRIPTION =
  'Finds tools that are not in your list yet. Use it whenever the tools that you have do not do ' +
  'what is asked for, before you answer that it cannot be done. Describe in `query` what the tool ' +
  'is to do, in plain words: one need for each search, several searches at once for several ' +
  'needs. The tools that it names can be called from then on.';

/** The search tool as the model sees it; see {@link searchSchema}. */
export function searchToolDefinition(name: string, inputSchema: JsonSchema): ToolDefinition {
  return { name, description: DESCRIPTION, inputSchema };
}

/** Schema of the arguments. @param category schema of a filter; undefined without categories */
export function searchSchema(maxResults: number, category?: JsonSchema): JsonSchema {
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
