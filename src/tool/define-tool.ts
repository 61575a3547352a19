import type { JsonSchema, ToolDefinition } from '../chat/tool-definition.js';
import { isStandardSchema, toToolSchema, type InputSchema } from './schema/input-schema.js';
import { resultContent } from './result-content.js';
import { checkToolOptions, metadataOf, type ToolOptions, type ToolSettings } from './tool-options.js';
import type { Tool } from './tool.js';
import { jsonSchemaValidator, standardValidator } from './schema/validation.js';

/**
 * Makes a tool from a function.
 * @throws {@link ToolDefinitionError} at once if the name, the schema or another option cannot be used
 */
export function defineTool<S extends InputSchema = JsonSchema, R = unknown>(options: ToolOptions<S, R>): Tool {
  const given = options as unknown as ToolOptions<InputSchema>;
  checkToolOptions(given, 'defineTool');
  return makeTool(given);
}

/** A tool from options that were checked. */
export function makeTool(options: ToolOptions<InputSchema>): Tool {
  const { input = {} } = options;
  const definition = toDefinition(options, input);
  const toContent = converter(options);
  return {
    definition,
    metadata: metadataOf(options),
    validate: isStandardSchema(input) ? standardValidator(input) : jsonSchemaValidator(definition.inputSchema),
    call: (args, context) => options.execute(args as Readonly<Record<string, unknown>>, context),
    ...(toContent && { toContent }),
  };
}

function toDefinition(options: ToolOptions<InputSchema>, input: InputSchema): ToolDefinition {
  const { name, description, strict } = options;
  return {
    name,
    description: description?.trim() ? description : wordsOf(name),
    inputSchema: toToolSchema(options.inputSchema ?? input, name),
    ...(strict !== undefined && { strict }),
  };
}

function converter(options: ToolSettings<InputSchema, unknown>): Tool['toContent'] {
  if (!options.toModelOutput && !options.resultConverter) return undefined;
  return async (value) => {
    const shown = options.toModelOutput ? await options.toModelOutput(value) : value;
    return options.resultConverter ? options.resultConverter(shown) : resultContent(shown);
  };
}

/** `getCurrentWeather` and `get_current_weather` as `get current weather`. */
function wordsOf(name: string): string {
  return name
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_.-]+/g, ' ')
    .trim()
    .toLowerCase();
}
