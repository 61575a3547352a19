import type { ChatOptions } from '../../core/chat/chat-options.js';
import type { Message } from '../../core/chat/message.js';
import type { ToolDefinition } from '../../core/chat/tool-definition.js';
import { safeJson } from '../../core/internal/safe-json.js';
import { messageChanges } from './message-difference.js';
import type { RequestChange } from './inspected-turn.js';

/** A request as references: its parts as the chain has them. */
export interface RawRequest {
  readonly model: string | undefined;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  /** Without tools, their context and the name of the model. */
  readonly options: Omit<ChatOptions, 'tools' | 'toolContext' | 'model'>;
}

/** The changes that lead from one request to another. */
export function requestChanges(before: RawRequest, after: RawRequest): readonly RequestChange[] {
  return [
    ...messageChanges(before.messages, after.messages),
    ...toolChanges(before.tools, after.tools),
    ...optionChanges(before.options, after.options),
    ...modelChanges(before.model, after.model),
  ];
}

function toolChanges(
  before: readonly ToolDefinition[],
  after: readonly ToolDefinition[],
): readonly RequestChange[] {
  if (before === after) return [];
  const [old, fresh] = [byName(before), byName(after)];
  const removed = [...old.values()]
    .filter(({ name }) => !fresh.has(name))
    .map((tool): RequestChange => ({ type: 'tool-removed', tool }));
  const others = [...fresh.values()].flatMap((tool): readonly RequestChange[] => {
    const known = old.get(tool.name);
    if (!known) return [{ type: 'tool-added', tool }];
    return isSame(known, tool) ? [] : [{ type: 'tool-changed', before: known, after: tool }];
  });
  return [...removed, ...others];
}

const byName = (tools: readonly ToolDefinition[]): ReadonlyMap<string, ToolDefinition> =>
  new Map(tools.map((tool) => [tool.name, tool]));

function optionChanges(
  before: RawRequest['options'],
  after: RawRequest['options'],
): readonly RequestChange[] {
  if (before === after) return [];
  const [old, fresh] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .filter((name) => !isSame(old.get(name), fresh.get(name)))
    .map((name) => {
      const [was, is] = [safeJson(old.get(name)), safeJson(fresh.get(name))];
      const values = {
        ...(was !== undefined && { before: was }),
        ...(is !== undefined && { after: is }),
      };
      return { type: 'option-changed', name, ...values };
    });
}

function modelChanges(
  before: string | undefined,
  after: string | undefined,
): readonly RequestChange[] {
  if (before === after) return [];
  const values = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
  return [{ type: 'model-changed', ...values }];
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(safeJson(one)) === JSON.stringify(safeJson(other));
}
