/**
 * Slots for the order of advisors, with room between them. Advisors below `TOOL_CALLING` run once
 * per turn, advisors above it once per iteration. Equal orders keep their registration order.
 */
export const AdvisorOrder = {
  OBSERVABILITY: 1_000,
  GUARD: 2_000,
  MEMORY: 3_000,
  TOOL_SEARCH: 4_000,
  /** Once per turn; use an order above `TOOL_CALLING` to retrieve in every iteration. */
  RETRIEVAL: 4_500,
  TOOL_CALLING: 5_000,
  STRUCTURED_OUTPUT_VALIDATION: 6_000,
  RESILIENCE: 7_000,
  LOGGER: 8_000,
} as const;
