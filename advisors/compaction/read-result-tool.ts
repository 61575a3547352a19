import type { AdvisorContext } from '../../src/core/chat/context.js';
import { RunRecord } from '../../src/core/chat/run-record.js';
import type { JsonSchema } from '../../src/core/chat/tool-definition.js';
import { ToolError } from '../../src/core/errors/errors.js';
import { jsonSchemaValidator } from '../../src/core/json-schema/validator.js';
import type { Tool } from '../../src/core/tool/tool.js';
import { readText, searchText } from './read-text.js';

interface ReadArguments {
  readonly id: string;
  readonly offset?: number;
  readonly length?: number;
  readonly search?: string;
}

/** Finds the text of a result; undefined if the caller may not read it, or it is not there. */
export type FindResult = (
  id: string,
  context: AdvisorContext,
  run: RunRecord | undefined,
) => Promise<string | undefined>;

const DESCRIPTION =
  'Reads or searches the result of an earlier tool call that was too long to be shown whole. Its ' +
  'text names the id. Prefer `search` to find a place; it takes plain text, no pattern. Read on ' +
  'from there with `offset`.';
/** A longer text to search for would not be found by a model anyway, and costs time. */
const MAX_SEARCH = 100;
/** A piece of one unit could hold no character of two, and reading on would never end. */
const MIN_PIECE = 10;

/**
 * Creates the tool with which a model reads offloaded results.
 * @param maxLength maximum number of characters of a result of the tool
 */
export function readResultTool(name: string, maxLength: number, find: FindResult): Tool {
  const schema = inputSchema(maxLength);
  return {
    definition: { name, description: DESCRIPTION, inputSchema: schema },
    metadata: { effect: 'read', cacheable: false, onToolError: 'send-to-model' },
    validate: jsonSchemaValidator(schema),
    call: async (args, { advisorContext, signal }) => {
      const { id, offset = 0, length = maxLength, search = '' } = args as ReadArguments;
      const text = await find(id, advisorContext, RunRecord.of(signal));
      if (text === undefined) throw new ToolError(missing(id));
      return search.trim() === ''
        ? readText(text, offset, length)
        : searchText(text, search, offset, length);
    },
  };
}

function missing(id: string): string {
  return (
    `No result with the id ${JSON.stringify(id.slice(0, 40))} is kept for this conversation: its ` +
    'time is over, or the id is another one. If you still need it, call the tool that made it ' +
    'again; otherwise answer with what you have.'
  );
}

function inputSchema(maxLength: number): JsonSchema {
  return {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'The id in the text of the result.' },
      search: {
        type: 'string',
        maxLength: MAX_SEARCH,
        description: 'Text to find, in any case. Returns the lines with it, and their offsets.',
      },
      offset: {
        type: 'integer',
        minimum: 0,
        description: 'The character to begin at. Default 0.',
      },
      length: {
        type: 'integer',
        minimum: MIN_PIECE,
        maximum: maxLength,
        description: `Most characters to return, ${MIN_PIECE} to ${maxLength}. Default ${maxLength}.`,
      },
    },
    required: ['id'],
  };
}
