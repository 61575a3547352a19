import { describe } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import { toolFingerprint } from './tool-fingerprint.js';
import { defineToolProvider, isToolProvider, type ToolProvider } from './tool-provider.js';
import { changeProvider, toolsOf, type ToolSource } from './tool-source.js';
import type { Tool } from './tool.js';

/** Where accepted fingerprints are kept, by name of the tool; a `Map` is one for the life of a process. */
export interface ToolPins {
  get(name: string): string | undefined | Promise<string | undefined>;
  set(name: string, fingerprint: string): unknown;
}

/** A tool that is not the one that was accepted. */
export interface ChangedTool {
  readonly tool: Tool;
  readonly pinned: string;
  readonly found: string;
}

/** Options of {@link pinTools}. */
export interface PinOptions {
  readonly pins: ToolPins;
  /** Told of a tool that is held back; to accept it: `pins.set(tool.definition.name, found)`. */
  readonly onChange?: ((change: ChangedTool) => void) | undefined;
}

/**
 * Holds back tools that have changed since they were first seen: a server of others may give a tool another description when it is
 * trusted. What is seen for the first time is accepted.
 * @throws {@link InvalidArgumentError} if the pins have no `get` and `set`
 */
export function pinTools(source: ToolSource, { pins, onChange }: PinOptions): ToolProvider {
  if (typeof pins?.get !== 'function' || typeof pins.set !== 'function')
    throw new InvalidArgumentError(`pinTools: pins must have get and set, as a Map has, not ${describe(pins)}`);
  const provider = isToolProvider(source) ? source : defineToolProvider({ name: 'pinned tools', tools: toolsOf(source, 'pinTools') });
  return changeProvider(provider, 'pinTools', async (tools) => {
    const same = await Promise.all(tools.map((tool) => isAccepted(tool, pins, onChange)));
    return tools.filter((_tool, at) => same[at]);
  });
}

async function isAccepted(tool: Tool, pins: ToolPins, onChange: PinOptions['onChange']): Promise<boolean> {
  const { name } = tool.definition;
  const found = toolFingerprint(tool);
  const pinned = await pins.get(name);
  if (pinned === undefined) await pins.set(name, found);
  else if (pinned !== found) onChange?.({ tool, pinned, found });
  return pinned === undefined || pinned === found;
}
