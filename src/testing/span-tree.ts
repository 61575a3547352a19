import type { SpanIds, SpanLike } from './span-like.js';
import { compareTimes } from './span-time.js';

/** A span and what ran within it, in the order in which it began. */
export interface SpanNode {
  readonly span: SpanLike;
  readonly children: readonly SpanNode[];
}

interface LinkedNode extends SpanNode {
  readonly children: LinkedNode[];
  parent?: LinkedNode;
}

/** The trees that spans make, in the order in which they began. A span whose parent is not among them is a root. */
export function spanTrees(spans: readonly SpanLike[]): readonly SpanNode[] {
  const inOrder = spans.toSorted((one, other) => compareTimes(one.startTime, other.startTime));
  const nodes = inOrder.map((span): LinkedNode => ({ span, children: [] }));
  const byId = new Map(nodes.map((node) => [keyOf(node.span.spanContext()), node]));
  for (const node of nodes.toReversed()) {
    const parent = byId.get(parentKeyOf(node.span));
    // where parents go in a circle, the first span of it comes last here, and is made a root
    if (!parent || isWithin(parent, node)) continue;
    node.parent = parent;
    parent.children.push(node);
  }
  for (const { children } of nodes) children.reverse();
  return nodes.filter(({ parent }) => !parent);
}

function keyOf({ traceId, spanId }: SpanIds): string {
  return `${traceId} ${spanId}`;
}

function parentKeyOf(span: SpanLike): string {
  const { parentSpanContext, parentSpanId = '' } = span;
  return keyOf(parentSpanContext ?? { traceId: span.spanContext().traceId, spanId: parentSpanId });
}

function isWithin(node: LinkedNode, ancestor: LinkedNode): boolean {
  for (let at: LinkedNode | undefined = node; at; at = at.parent) if (at === ancestor) return true;
  return false;
}
