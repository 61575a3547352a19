/** The inspector: `advisor-chain/inspector`. @module */
export type {
  AdvisorChanges,
  AdvisorOverride,
  AdvisorState,
  ExportedTurns,
  InspectedAdvisor,
  InspectedChain,
  InspectedError,
  InspectedRequest,
  InspectedTurn,
  InspectorEvent,
  KeptTurns,
  NamedChange,
  RequestChange,
  SentRequest,
  TimelineEntry,
  TurnSummary,
  TurnToTry,
} from './inspected-turn.js';
export type { InspectorHandlerOptions } from './handler-options.js';
export { inspectorHandler, type InspectorHandler } from './inspector-handler.js';
export type { InspectorOptions } from './inspector-options.js';
export { Inspector } from './inspector.js';
