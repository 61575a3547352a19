import { wrapsRest, type Advisor } from '../../core/advisor/advisor.js';
import { explainChain } from '../../core/advisor/explain.js';
import type { ChatModel } from '../../core/chat/chat-model.js';
import type { ChatOptions } from '../../core/chat/chat-options.js';
import type { JsonValue } from '../../core/internal/json.js';
import type { Tool } from '../../core/tool/tool.js';
import type { InspectedAdvisor, InspectedChain } from './inspected-turn.js';
import { optionsAsJson } from './options-as-json.js';
import type { Redactor } from './redactor.js';

/** The parts of a chain, as a request or a client has them. */
export interface ChainParts {
  /** In order, with parts of advisors; the inspector itself is left out. */
  readonly advisors: readonly Advisor[];
  readonly tools: readonly Tool[];
  readonly options: ChatOptions;
  readonly model: Pick<ChatModel, 'defaultOptions' | 'provider'> | undefined;
}

/** Describes a chain: its advisors in order, with their options and warnings. */
export function describeChain(
  { advisors, tools, options, model }: ChainParts,
  redactor: Redactor,
): InspectedChain {
  const warnings = warningsOf(advisors, tools);
  const loopAt = advisors.findIndex(({ role }) => role === 'tool-loop');
  const { tools: _tools, toolContext: _values, ...own } = { ...model?.defaultOptions, ...options };
  const name = own.model;
  return {
    advisors: advisors.map((advisor, at) => describe(advisor, at, loopAt, warnings, redactor)),
    model: {
      ...(name !== undefined && { name }),
      ...(model?.provider && { provider: model.provider.name }),
    },
    options: optionsAsJson(own, redactor),
    tools: tools.map(({ definition, metadata }) => ({
      name: definition.name,
      isDeferred: metadata.deferred === true,
    })),
    warnings,
  };
}

function describe(
  advisor: Advisor,
  at: number,
  loopAt: number,
  warnings: readonly string[],
  redactor: Redactor,
): InspectedAdvisor {
  const { name, order, role, traits = [] } = advisor;
  return {
    name,
    order,
    place: placeOf(advisor, at, loopAt),
    aroundToolCalls: advisor.adviseToolCall !== undefined,
    ...(role !== undefined && { role }),
    traits,
    options: ownOptions(advisor, redactor),
    warnings: warnings.filter((warning) => warning.includes(`"${name}"`)),
  };
}

function placeOf(advisor: Advisor, at: number, loopAt: number): InspectedAdvisor['place'] {
  if (at === loopAt) return 'loop';
  if (!wrapsRest(advisor)) return 'tool';
  return loopAt >= 0 && at > loopAt ? 'iteration' : 'turn';
}

/** Fields of an advisor that are no options. */
const KNOWN_FIELDS = new Set([
  'name',
  'order',
  'role',
  'traits',
  'parts',
  'options',
  'before',
  'advise',
  'around',
  'adviseToolCall',
  'prepareToolCall',
  'hazards',
  'problems',
  'inspect',
]);

function ownOptions(advisor: Advisor, redactor: Redactor): Readonly<Record<string, JsonValue>> {
  const fields = Object.entries(advisor).filter(([name]) => !KNOWN_FIELDS.has(name));
  const { options } = advisor as { readonly options?: unknown };
  const given = typeof options === 'object' && options !== null ? Object.entries(options) : [];
  const all = Object.fromEntries([...fields, ...given].filter(([, value]) => value !== undefined));
  return optionsAsJson(all, redactor) as Readonly<Record<string, JsonValue>>;
}

/** Warnings of `explain()`; none of advisors that form no chain. */
function warningsOf(advisors: readonly Advisor[], tools: readonly Tool[]): readonly string[] {
  // the chain adds parts of advisors again
  const parts = new Set(advisors.flatMap((advisor) => advisor.parts ?? []));
  const own = advisors.filter((advisor) => !parts.has(advisor));
  try {
    return explainChain(own, tools.length > 0 ? tools : undefined).warnings;
  } catch {
    return [];
  }
}
