import type { ApprovalRequest } from '../../src/core/chat/paused-turn.js';
import { JsonError } from '../../src/core/errors/errors.js';
import { jsonData } from '../../src/core/internal/json-data.js';
import { canonicalJson, parseJson, type JsonValue } from '../../src/core/internal/json.js';
import { isPlainObject } from '../../src/core/internal/options.js';
import { parseArguments } from '../../src/core/tool-execution/check-call.js';
import { checkArgumentsText } from '../../src/core/tool-execution/check-call.js';
import type { Tool } from '../../src/core/tool/tool.js';

/** Other arguments of a call, or the problem with them. */
export type EditedArguments =
  | { readonly text: string; readonly value: unknown; readonly problem?: undefined }
  | { readonly problem: string };

/** The arguments that are edited, checked and as the model wrote them. */
export type ShownArguments = Pick<ApprovalRequest, 'arguments' | 'argumentsText'>;

/** Checks arguments like the model's: it sees the text, the tool gets the value. */
export async function editArguments(
  tool: Tool,
  given: unknown,
  shown: ShownArguments,
): Promise<EditedArguments> {
  const data = isPlainObject(given) ? jsonData(given) : undefined;
  const invalid = (issues: readonly string[]): EditedArguments => ({
    problem: `The arguments of "${tool.definition.name}" are not valid: ${issues.join('; ')}`,
  });
  try {
    if (data === undefined) {
      parseJson(textOf(given));
      return { problem: 'The arguments must be one JSON object.' };
    }
    const text = canonicalJson(data);
    const checked = await checkArgumentsText(text, tool);
    if (!('value' in checked)) return invalid(checked.issues);
    const { arguments: made, argumentsText } = shown;
    const twice = changedTwice(data, made, parseArguments(argumentsText), checked.value);
    if (twice === undefined) return { text, value: checked.value };
    return invalid([
      `${twice} is left as the schema has made it, which would change it again: write it as the model did (argumentsText)`,
    ]);
  } catch (error) {
    if (error instanceof JsonError) return invalid([error.message]);
    throw error;
  }
}

/** A text with the keys of a value, of which some are not accepted. */
function textOf(given: unknown): string {
  try {
    const text: unknown = JSON.stringify(given);
    return typeof text === 'string' ? text : '{}';
  } catch {
    return '{}'; // a cycle, or a number that JSON cannot hold
  }
}

/**
 * The path of a value that a person has left as it was shown, but that would not run so, since the
 * schema has changed it before it was shown and changes it again; undefined if there is none.
 */
function changedTwice(
  given: JsonValue,
  shown: unknown,
  written: unknown,
  ran: unknown,
  path = '',
): string | undefined {
  if (isTree(given) && isTree(shown)) {
    for (const [key, value] of Object.entries(given)) {
      const inner = [shown, written, ran].map((tree) => fieldOf(tree, key));
      const found = changedTwice(value, inner[0], inner[1], inner[2], `${path}/${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const isLeft = isEqual(given, shown) && !isEqual(shown, written);
  return isLeft && !isEqual(given, ran) ? path : undefined;
}

const isTree = (value: unknown): value is object => Array.isArray(value) || isPlainObject(value);

const fieldOf = (tree: unknown, key: string): unknown =>
  isTree(tree) && Object.hasOwn(tree, key) ? (tree as Record<string, unknown>)[key] : undefined;

function isEqual(a: unknown, b: unknown): boolean {
  const [one, other] = [jsonData(a), jsonData(b)];
  return one !== undefined && other !== undefined && canonicalJson(one) === canonicalJson(other);
}
