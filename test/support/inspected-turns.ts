import {
  Inspector,
  type InspectedTurn,
  type InspectorOptions,
  type RequestChange,
} from '../../src/bridges/inspector/index.js';
import { textOf, type Message } from '../../src/core/chat/message.js';

/** An inspector that records in tests, which run as in production. */
export function newInspector(options: InspectorOptions = {}): Inspector {
  return new Inspector({ allowInProduction: true, ...options });
}

/** The latest turn of an inspector. */
export function latestTurn(inspector: Inspector): InspectedTurn {
  const turn = inspector.turn(inspector.turns().at(-1)?.id ?? '');
  if (!turn) throw new Error('no turn was recorded');
  return turn;
}

/** Entries of a timeline as short texts, such as `tool-call weather`. */
export function entriesOf({ timeline }: InspectedTurn): readonly string[] {
  return timeline.map(({ kind, name, outcome }) =>
    outcome === undefined || outcome === 'ok' ? `${kind} ${name}` : `${kind} ${name}: ${outcome}`,
  );
}

/** The steps of a request as short texts: the advisor, and its change. */
export function stepsOf({ requests }: InspectedTurn, at = 0): readonly string[] {
  return (requests[at]?.steps ?? []).flatMap(({ advisor, changes }) =>
    changes.map((change) => `${advisor}: ${shownChange(change)}`),
  );
}

/** The changes since the request before, as short texts. */
export function changesOf({ requests }: InspectedTurn, at: number): readonly string[] | undefined {
  return requests[at]?.sincePrevious?.map(
    ({ advisor, change }) => `${advisor}: ${shownChange(change)}`,
  );
}

const shown = (message: Message): string => textOf(message.content);

function shownChange(change: RequestChange): string {
  const { type } = change;
  switch (type) {
    case 'message-added':
    case 'message-removed':
      return `${type} ${change.at} ${change.message.role} ${shown(change.message)}`.trimEnd();
    case 'message-changed':
      return `${type} ${change.at} ${shown(change.before)} -> ${shown(change.after)}`;
    case 'tool-added':
    case 'tool-removed':
      return `${type} ${change.tool.name}`;
    case 'tool-changed':
      return `${type} ${change.after.name}`;
    case 'option-changed':
      return `${type} ${change.name} ${JSON.stringify(change.before)} -> ${JSON.stringify(change.after)}`;
    case 'model-changed':
      return `${type} ${change.before} -> ${change.after}`;
  }
}
