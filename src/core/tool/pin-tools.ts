import type { OfferedTool } from '../chat/tool-definition.js';
import { canonicalJson, type JsonValue } from '../internal/json.js';
import { checkOptions, FUNCTION, required, withMethods } from '../internal/options.js';
import { sha256Hex } from '../internal/text.js';
import { flattenTools } from './check-tool.js';
import { defineToolProvider, isToolProvider, type ToolProvider } from './tool-provider.js';
import type { Tool } from './tool.js';
import { changeProvider, type ToolSource } from './transform-tools.js';

/**
 * Hashes the definition that a model reads: name, description and schemas, whatever the order of
 * their keys, and the effect of a tool that has one, by which calls may be allowed. SHA-256, 64 hexadecimal digits. Compare it with an earlier fingerprint to detect that
 * a tool of another party has changed since its review.
 */
export function toolFingerprint({ definition, metadata }: OfferedTool & Partial<Tool>): string {
  const { name, description, inputSchema, outputSchema } = definition;
  const schemas = outputSchema ? { inputSchema, outputSchema } : { inputSchema };
  const effect = metadata?.effect && { effect: metadata.effect };
  const hashed = { name, description, ...(schemas as Record<string, JsonValue>), ...effect };
  return sha256Hex(canonicalJson(hashed));
}

/**
 * Store of the accepted fingerprints, by tool name; a `Map` keeps them for the life of the process.
 */
export interface ToolPins {
  get(name: string): string | undefined | Promise<string | undefined>;
  set(name: string, fingerprint: string): unknown;
}

/** A tool whose fingerprint differs from the accepted one. */
export interface ChangedTool {
  readonly tool: Tool;
  readonly pinned: string;
  readonly found: string;
}

/** Options of {@link pinTools}. */
export interface PinOptions {
  readonly pins: ToolPins;
  /**
   * Called with a changed tool, which is left out unless the result is true, or a promise of it:
   * then its new fingerprint is accepted. @default leaves it out
   */
  readonly onChange?: ((change: ChangedTool) => unknown) | undefined;
}

const PINS = withMethods('an object with get and set, such as a Map', 'get', 'set');

/**
 * Leaves out tools that have changed since their first use: a remote server may replace a
 * description once it is trusted. A tool is accepted at its first use.
 * @throws {@link InvalidArgumentError} if the pins have no `get` and `set`
 */
export function pinTools(source: ToolSource, options: PinOptions): ToolProvider {
  checkOptions('pinTools', options, { pins: required(PINS), onChange: FUNCTION });
  const { pins, onChange } = options;
  const provider = isToolProvider(source)
    ? source
    : defineToolProvider({ name: 'pinned tools', tools: flattenTools([source], 'pinTools') });
  return changeProvider(provider, 'pinTools', async (tools) => {
    const accepted = await Promise.all(tools.map((tool) => isAccepted(tool, pins, onChange)));
    return tools.filter((_tool, at) => accepted[at]);
  });
}

async function isAccepted(
  tool: Tool,
  pins: ToolPins,
  onChange: PinOptions['onChange'],
): Promise<boolean> {
  const { name } = tool.definition;
  const found = toolFingerprint(tool);
  const pinned = await pins.get(name);
  if (pinned === found) return true;
  const isNew = pinned === undefined;
  const accepted = isNew || (await onChange?.({ tool, pinned, found })) === true;
  if (accepted) await pins.set(name, found);
  return accepted;
}
