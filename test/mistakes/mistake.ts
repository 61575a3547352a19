/** A mistake of a beginner, and the messages about it. */
export interface Mistake {
  /** The mistake in words. */
  readonly title: string;
  /** The program: statements after the imports of an application; see `names.ts`. */
  readonly code: string;
  /** Part of what the compiler reports; the program compiles without it. */
  readonly tsc?: string;
  /** Part of the error at run time, or of the first warning; the program runs without it. */
  readonly run?: string;
  /** Reason why no message names the next step. At most three mistakes have one. */
  readonly unhelpful?: string;
}
