/** The inspector: `advisor-chain/inspector`. @module */
export type {
  AdvisorChanges,
  AdvisorState,
  ExportedTurns,
  InspectedAdvisor,
  InspectedChain,
  InspectedError,
  InspectedRequest,
  InspectedTurn,
  NamedChange,
  RequestChange,
  SentRequest,
  TimelineEntry,
  TurnSummary,
} from './inspected-turn.js';
export type { AdvisorOverride, InspectorEvent, KeptTurns, TurnToTry } from './page-messages.js';
export type { InspectorHandlerOptions } from './handler-options.js';
export { inspectorHandler, type InspectorHandler } from './inspector-handler.js';
export type { InspectorOptions } from './inspector-options.js';
export { Inspector } from './inspector.js';
