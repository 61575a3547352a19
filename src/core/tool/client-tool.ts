import type { JsonSchema } from '../chat/tool-definition.js';
import type { InputSchema } from '../json-schema/to-json-schema.js';
import type { ToolContext } from './tool.js';

/** A call that the client runs. */
export interface ClientCall {
  readonly args: unknown;
  /** Schema of the output, if the tool has one. */
  readonly schema: JsonSchema | undefined;
}

const CLIENT_CALL = Symbol('client call');

/** Undefined for the schema of a question. */
export const clientCallIn = (
  schema: InputSchema & { readonly [CLIENT_CALL]?: ClientCall },
): ClientCall | undefined => schema?.[CLIENT_CALL];

/**
 * Has the client run a call, by `ask`: so a call waits, pauses and continues as questions do, also
 * where an advisor has replaced `ask`.
 */
export function callClient(
  args: unknown,
  schema: JsonSchema | undefined,
  { ask, call }: ToolContext,
): Promise<unknown> {
  const asked = Object.assign({ ...schema }, { [CLIENT_CALL]: { args, schema } });
  return ask(asked, `Run "${call.name}" in the client.`);
}
