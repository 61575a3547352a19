/** The part of a UI message that is read. */
export interface UIPart {
  readonly type: string;
  readonly data?: unknown;
}

/**
 * The parts of a UI message without what was taken back: an attempt that failed in the middle, or an
 * answer that another model replaced. The protocol has no way to remove a part, so a part `data-retract` of the
 * stream marks the last steps before it as void.
 *
 * @example visibleParts(message.parts).map((part) => …)
 */
export function visibleParts<Part extends UIPart>(parts: readonly Part[]): readonly Part[] {
  const steps: Part[][] = [[]]; // the first one has what stands before the steps
  for (const part of parts) {
    if (part.type === 'data-retract') steps.splice(firstVoid(steps.length, part.data));
    else if (part.type === 'step-start') steps.push([part]);
    else steps.at(-1)?.push(part);
  }
  return steps.flat();
}

function firstVoid(count: number, data: unknown): number {
  const { steps } = (data ?? {}) as { readonly steps?: unknown };
  return Math.max(1, count - (typeof steps === 'number' ? steps : 0));
}
