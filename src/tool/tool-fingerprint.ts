import { sha256Hex } from '../chat/hash.js';
import { canonicalJson, type JsonValue } from '../chat/json.js';
import type { OfferedTool } from '../chat/tool-definition.js';

/**
 * A hash of what a model reads of a tool: name, description and schema, whatever the order of their keys. SHA-256, 64 hexadecimal
 * digits. Compare it with an earlier one to see that a tool of others is still the one that you looked at.
 */
export function toolFingerprint({ definition: { name, description, inputSchema } }: OfferedTool): string {
  return sha256Hex(canonicalJson({ name, description, inputSchema: inputSchema as JsonValue }));
}
