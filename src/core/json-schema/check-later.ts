import type { JsonSchema } from '../chat/tool-definition.js';
import { InvalidArgumentError } from '../errors/errors.js';
import { isStandardSchema, standardValidator, type Validation } from './standard-schema.js';
import type { InputSchema } from './to-json-schema.js';
import type { jsonSchemaValidator, Validate } from './validator.js';

/** The part of a bundle with the evaluator of JSON Schema. */
interface Evaluator {
  readonly jsonSchemaValidator: typeof jsonSchemaValidator;
}

/**
 * The check of a value by a schema, or by the JSON Schema of it. The evaluator of JSON Schema is
 * loaded at the first check: an application that never checks by one has it in no bundle that it
 * starts with.
 * @returns a check that rejects with an {@link InvalidArgumentError} if loading fails
 */
export function checkLater(
  schema: InputSchema,
  json: JsonSchema,
  load: () => Promise<Evaluator> = () => import('./validator.js'),
): (value: unknown) => Promise<Validation> {
  if (isStandardSchema(schema)) return standardValidator(schema);
  let validate: Validate | undefined;
  return async (value) => {
    validate ??= (await load().catch(rejectLoading)).jsonSchemaValidator(json);
    return validate(value);
  };
}

function rejectLoading(cause: unknown): never {
  throw new InvalidArgumentError(
    'the check by a JSON Schema is a file of the bundle, which could not be loaded; serve all files of the bundle, or build one file',
    { cause },
  );
}
