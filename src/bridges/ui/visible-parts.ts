/** The part of a UI message that is read. */
export interface UIPart {
  readonly type: string;
  readonly data?: unknown;
}

/**
 * The parts of a UI message without what was taken back: an attempt that failed in the middle, or an
 * answer that another model replaced. The protocol has no way to remove a part, so the stream marks the steps as
 * void by a part `data-retract`.
 *
 * @example visibleParts(message.parts).map((part) => …)
 */
export function visibleParts<Part extends UIPart>(parts: readonly Part[]): readonly Part[] {
  const voided = parts.flatMap((part) =>
    part.type === 'data-retract' ? [rangeOf(part.data)] : [],
  );
  let step = -1;
  return parts.filter((part) => {
    if (part.type === 'step-start') step++;
    return part.type !== 'data-retract' && !voided.some(([from, to]) => step >= from && step < to);
  });
}

function rangeOf(data: unknown): readonly [from: number, to: number] {
  const { from, to } = (data ?? {}) as { readonly from?: unknown; readonly to?: unknown };
  return [Number(from), Number(to)];
}
