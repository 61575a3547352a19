import { JsonError } from '../errors.js';
import { canonicalJson, jsonData } from '../internal/json.js';
import { isPlainObject } from '../internal/options.js';
import { checkArgumentsText } from '../tool-execution/check-call.js';
import type { ToolInvocation } from '../tool/tool.js';

/** Other arguments of a call, or the problem with them. */
export type EditedArguments =
  | { readonly text: string; readonly value: unknown; readonly problem?: undefined }
  | { readonly problem: string };

/** Checks arguments like those of the model: the text is what it sees, the value what the tool gets. */
export async function editArguments(
  { tool, call }: ToolInvocation,
  given: unknown,
): Promise<EditedArguments> {
  const data = isPlainObject(given) ? jsonData(given) : undefined;
  if (data === undefined) return { problem: 'The arguments must be one JSON object.' };
  const text = canonicalJson(data);
  try {
    const checked = await checkArgumentsText(text, tool);
    if ('value' in checked) return { text, value: checked.value };
    return { problem: problemOf(call.name, checked.issues) };
  } catch (error) {
    if (error instanceof JsonError) return { problem: problemOf(call.name, [error.message]) };
    throw error;
  }
}

function problemOf(name: string, issues: readonly string[]): string {
  return `The arguments of "${name}" are not valid: ${issues.join('; ')}`;
}
