import type { Message } from '../../../../core/chat/message.js';
import type { AdvisorChanges, InspectedRequest, RequestChange } from '../../inspected-turn.js';

/** An advisor that added or changed a part of a request. */
export interface Origin {
  readonly advisor: string;
  readonly verb: 'added' | 'changed';
  readonly change: RequestChange;
}

/** The advisors behind the parts of a request. */
export interface Origins {
  /** For each message of the request, in the order of the chain; empty for messages of the application. */
  readonly messages: readonly (readonly Origin[])[];
  /** By the name of the tool. */
  readonly tools: ReadonlyMap<string, readonly Origin[]>;
  /** By the name of the option. */
  readonly options: ReadonlyMap<string, readonly Origin[]>;
  readonly model: readonly Origin[];
  /** Places in the request of the messages that steps added or changed, unless a later step removed them. */
  readonly places: ReadonlyMap<RequestChange, number>;
}

/** Follows the steps of a request from the application to the model. */
export function originsOf(request: InspectedRequest): Origins {
  const messages = messageOrigins(request);
  const places = new Map<RequestChange, number>();
  messages.forEach((origins, at) => origins.forEach(({ change }) => places.set(change, at)));
  request.sincePrevious?.forEach(({ change }) => {
    if (change.type === 'message-added' || change.type === 'message-changed')
      places.set(change, change.at);
  });
  return {
    messages,
    tools: namedOrigins(request.steps, (change) => {
      if (change.type === 'tool-added') return change.tool.name;
      return change.type === 'tool-changed' ? change.after.name : undefined;
    }),
    options: namedOrigins(request.steps, (change) =>
      change.type === 'option-changed' ? change.name : undefined,
    ),
    model:
      namedOrigins(request.steps, ({ type }) => (type === 'model-changed' ? '' : undefined)).get(
        '',
      ) ?? [],
    places,
  };
}

/**
 * Messages of steps count from the request before a step (removed) or after it (added, changed), so the
 * list is rebuilt step by step.
 */
function messageOrigins({ messages, steps }: InspectedRequest): readonly (readonly Origin[])[] {
  const count = steps.reduceRight((size, { changes }) => size - growthOf(changes), messages.length);
  let list: (readonly Origin[])[] = Array.from({ length: Math.max(0, count) }, () => []);
  for (const step of steps) list = afterStep(list, step);
  const isRight = (origins: readonly Origin[], at: number): boolean => {
    const made = origins.at(-1)?.change;
    return made === undefined || keyOf(madeBy(made)) === keyOf(messages[at]);
  };
  return list.length === messages.length && list.every(isRight)
    ? list
    : originsByContent(messages, steps);
}

/**
 * The same without places, which are wrong where the changes of one advisor at two positions are one step:
 * by the contents of messages.
 */
function originsByContent(
  messages: InspectedRequest['messages'],
  steps: InspectedRequest['steps'],
): readonly (readonly Origin[])[] {
  const found = new Map<string, readonly Origin[]>();
  for (const { advisor, changes } of steps)
    for (const change of changes) {
      if (change.type === 'message-added')
        found.set(keyOf(change.message), [{ advisor, verb: 'added', change }]);
      if (change.type !== 'message-changed') continue;
      const before = found.get(keyOf(change.before)) ?? [];
      found.set(keyOf(change.after), [...before, { advisor, verb: 'changed', change }]);
    }
  return messages.map((message) => found.get(keyOf(message)) ?? []);
}

const keyOf = (message: Message | undefined): string => JSON.stringify(message);

/** The message that a change has put into the request. */
function madeBy(change: RequestChange): Message | undefined {
  if (change.type === 'message-added') return change.message;
  return change.type === 'message-changed' ? change.after : undefined;
}

function growthOf(changes: readonly RequestChange[]): number {
  return changes.reduce(
    (sum, { type }) => sum + (type === 'message-added' ? 1 : type === 'message-removed' ? -1 : 0),
    0,
  );
}

function afterStep(
  before: readonly (readonly Origin[])[],
  { advisor, changes }: AdvisorChanges,
): (readonly Origin[])[] {
  const removed = new Set(
    changes.flatMap((change) => (change.type === 'message-removed' ? [change.at] : [])),
  );
  const kept = before.filter((_, at) => !removed.has(at));
  const added = new Map(
    changes.flatMap((change) => (change.type === 'message-added' ? [[change.at, change]] : [])),
  );
  const size = kept.length + added.size;
  const after: (readonly Origin[])[] = [];
  let next = 0;
  for (let at = 0; at < size; at++) {
    const change = added.get(at);
    after.push(change ? [{ advisor, verb: 'added', change }] : (kept[next++] ?? []));
  }
  for (const change of changes)
    if (change.type === 'message-changed' && after[change.at])
      after[change.at] = [...(after[change.at] ?? []), { advisor, verb: 'changed', change }];
  return after;
}

function namedOrigins(
  steps: readonly AdvisorChanges[],
  nameOf: (change: RequestChange) => string | undefined,
): ReadonlyMap<string, readonly Origin[]> {
  const found = new Map<string, readonly Origin[]>();
  for (const { advisor, changes } of steps)
    for (const change of changes) {
      const name = nameOf(change);
      if (name === undefined) continue;
      const verb = change.type === 'tool-added' ? 'added' : 'changed';
      found.set(name, [...(found.get(name) ?? []), { advisor, verb, change }]);
    }
  return found;
}

/** `added by memory`, `added by memory, changed by guard and compaction`. */
export function originsInWords(origins: readonly Origin[]): string {
  const by = (verb: Origin['verb']): string => {
    const names = [
      ...new Set(origins.flatMap((each) => (each.verb === verb ? [each.advisor] : []))),
    ];
    return names.length > 0 ? `${verb} by ${names.join(' and ')}` : '';
  };
  return [by('added'), by('changed')].filter((words) => words !== '').join(', ');
}
