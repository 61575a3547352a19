import type { ToolResult } from '../chat/chat-event.js';
import { LimitExceededError, ToolOutputError } from '../errors/errors.js';
import { checkOption } from '../internal/options.js';
import type { CheckLimits } from '../json-schema/validator.js';
import { resultText } from './result-text.js';
import { CONTENT, isToolResult } from './tool-result.js';
import type { Tool } from './tool.js';

/** The result of a tool, checked and converted by the tool itself. */
export async function convertedResult(
  tool: Tool,
  returned: unknown,
  limits: CheckLimits,
): Promise<ToolResult> {
  const result = isToolResult(returned) ? returned : undefined;
  if (result && (result.isError || !('value' in result))) return result;
  const value = result ? result.value : returned;
  try {
    const checked = await checkedValue(tool, value, limits);
    if (result) return { ...result, ...recheckedContent(result, checked), value: checked };
    const content = tool.toContent
      ? await tool.toContent(checked)
      : resultText(checked, limits.maxResultLength);
    checkOption(`tool "${tool.definition.name}"`, 'the converted result', content, CONTENT);
    return { content, value: checked };
  } catch (error) {
    return conversionError(tool, returned, error);
  }
}

async function checkedValue(tool: Tool, value: unknown, limits: CheckLimits): Promise<unknown> {
  const { name } = tool.definition;
  const checked = (await tool.validateResult?.(value, limits)) ?? { value };
  if ('value' in checked) return checked.value;
  const message = `tool "${name}": its result does not fit its output schema: ${checked.issues.join('; ')}`;
  const { cause } = checked;
  throw new ToolOutputError(message, name, checked.issues, cause && { cause });
}

/** Content that was made of the value must not show what the check has removed. */
function recheckedContent({ content, value }: ToolResult, checked: unknown): Partial<ToolResult> {
  return content === resultText(value) ? { content: resultText(checked) } : {};
}

/**
 * The result of a tool that ran, but whose result could not be converted: the model must not call
 * it again.
 */
export function conversionError(tool: Tool, returned: unknown, error: unknown): ToolResult {
  const value = isToolResult(returned) ? returned.value : returned;
  const limit = error instanceof LimitExceededError ? ` (more than ${error.value} characters)` : '';
  const content = `The tool "${tool.definition.name}" has run, but its result cannot be shown${limit}. Do not call it again for this.`;
  return { content, isError: true, value, error };
}
