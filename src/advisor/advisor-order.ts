/**
 * Slots for the order of advisors, with room between them. What is left of `TOOL_CALLING` (lower) acts once per turn, what is
 * right of it once per iteration. Advisors of one order keep the order of their registration.
 */
export const AdvisorOrder = {
  OBSERVABILITY: 1_000,
  GUARD: 2_000,
  MEMORY: 3_000,
  TOOL_SEARCH: 4_000,
  /** Once per turn; give a retrieval advisor an order above `TOOL_CALLING` to have it search in every iteration. */
  RETRIEVAL: 4_500,
  TOOL_CALLING: 5_000,
  STRUCTURED_OUTPUT_VALIDATION: 6_000,
  RESILIENCE: 7_000,
  LOGGER: 8_000,
} as const;
