import type { InspectedAdvisor, InspectedChain } from '../inspected-turn.js';
import { plural } from './parts/format.js';

// The drawing of a chain, like the one of the README: boxes for what runs once per turn, and a frame for the tool loop with what runs once per
// iteration, the model, and what stands around tool calls. Lines wrap at the width of the page.

export interface Box {
  /** `0` for the first advisor of the chain, …; `model` or `tools`. An advisor around tool calls may have two boxes. */
  readonly key: string;
  readonly advisor?: InspectedAdvisor;
  readonly kind: 'turn' | 'loop' | 'iteration' | 'tool' | 'model' | 'tools';
  readonly label: string;
  readonly note: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export interface Caption {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

export interface Frame {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly isLoop: boolean;
}

export interface Drawing {
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly frames: readonly Frame[];
  readonly captions: readonly Caption[];
  /** Paths of arrows. */
  readonly arrows: readonly string[];
  readonly loopBack?: { readonly path: string; readonly caption: Caption };
}

export const BOX_HEIGHT = 44;
const GAP = 20;
const LINE_GAP = 20;
const PADDING = 14;
const CAPTION = 22;
const LANE_GAP = 44;
const MIN_BOX = 78;
const MAX_BOX = 190;
/** Place of the arrow into the loop from above; the caption stands right of it. */
const ENTRY = 14;
const LOOP_CAPTION = 'repeats while the answer asks for tools';

type Unplaced = Omit<Box, 'x' | 'y'>;

/** Width of a text in pixels, in the font of the names or of the notes of boxes. */
export type Measure = (text: string, font: 'name' | 'note') => number;

function widthOf(label: string, note: string, measure: Measure): number {
  const text = Math.max(measure(label, 'name'), measure(note, 'note'));
  return Math.round(Math.min(MAX_BOX, Math.max(MIN_BOX, text + 24)));
}

/** The boxes of a chain by their groups. */
function groupsOf({ advisors, model, tools }: InspectedChain, measure: Measure) {
  const box = (key: string, kind: Box['kind'], label: string, note: string): Unplaced => {
    return { key, kind, label, note, width: widthOf(label, note, measure) };
  };
  const boxesOf = (kind: Box['kind'], isOf: (advisor: InspectedAdvisor) => boolean) =>
    advisors.flatMap((each, at) => {
      if (!isOf(each)) return [];
      return [{ ...box(String(at), kind, each.name, String(each.order)), advisor: each }];
    });
  const loop = boxesOf('loop', ({ place }) => place === 'loop');
  const iteration = boxesOf('iteration', ({ place }) => place === 'iteration');
  const around = boxesOf('tool', (each) => each.place === 'tool' || each.aroundToolCalls);
  const deferred = tools.filter(({ isDeferred }) => isDeferred).length;
  const toolNote = deferred > 0 ? `${deferred} deferred` : 'offered';
  const toolBox = box('tools', 'tools', plural(tools.length, 'tool'), toolNote);
  const modelBox = box('model', 'model', model?.name ?? 'model', model?.provider ?? 'model');
  return {
    turn: boxesOf('turn', ({ place }) => place === 'turn'),
    iteration: [...loop, ...iteration, modelBox],
    tool: around.length > 0 || tools.length > 0 ? [...around, toolBox] : [],
    hasLoop: loop.length > 0,
  };
}

interface Placed {
  readonly boxes: readonly Box[];
  readonly arrows: readonly string[];
  readonly width: number;
  readonly bottom: number;
  readonly lines: number;
}

const lineWidth = (boxes: readonly Unplaced[]): number =>
  boxes.reduce((sum, { width }) => sum + width, 0) + GAP * Math.max(0, boxes.length - 1);

/** Boxes in lines from a place, with arrows between them. */
function flow(boxes: readonly Unplaced[], left: number, top: number, maxWidth: number): Placed {
  const placed: Box[] = [];
  const arrows: string[] = [];
  let x = left;
  let y = top;
  let lines = 1;
  for (const each of boxes) {
    const width = Math.min(each.width, maxWidth);
    const before = placed.at(-1);
    if (before && x + width > left + maxWidth) {
      x = left;
      y += BOX_HEIGHT + LINE_GAP;
      lines++;
      arrows.push(elbow(before, { x, y, width }));
    } else if (before) arrows.push(arrow(before.x + before.width, y + BOX_HEIGHT / 2, x - 3));
    placed.push({ ...each, x, y, width });
    x += width + GAP;
  }
  const right = Math.max(left, ...placed.map((each) => each.x + each.width));
  return { boxes: placed, arrows, width: right - left, bottom: y + BOX_HEIGHT, lines };
}

const arrow = (from: number, y: number, to: number): string => `M${from} ${y}H${to}`;

/** From the bottom of a box to the top of the first one of the next line. */
function elbow(
  from: { readonly x: number; readonly y: number; readonly width: number },
  to: { readonly x: number; readonly y: number; readonly width: number },
): string {
  const start = from.x + from.width / 2;
  const end = to.x + Math.min(to.width, MIN_BOX) / 2;
  const middle = to.y - LINE_GAP / 2;
  return `M${start} ${from.y + BOX_HEIGHT}V${middle}H${end}V${to.y - 3}`;
}

/** The drawing of a chain in a width. */
export function drawChain(chain: InspectedChain, width: number, measure: Measure): Drawing {
  const groups = groupsOf(chain, measure);
  const turnWidth = groups.turn.length > 0 ? lineWidth(groups.turn) + 2 * PADDING : 0;
  const loopWidth = Math.max(lineWidth(groups.iteration), lineWidth(groups.tool)) + 2 * PADDING;
  const isWide = turnWidth > 0 && turnWidth + GAP + loopWidth <= width;
  const turnFrame = isWide ? turnWidth : width;
  const turn = groupFrame(groups.turn, { x: 0, y: 0, width: turnFrame }, 'once per turn');
  const below = turn ? turn.frame.height + LINE_GAP : 0;
  const place = isWide
    ? { x: turnWidth + GAP, y: 0, width: width - turnWidth - GAP }
    : { x: 0, y: below, width };
  const loop = loopFrame(groups, place);
  const height = Math.max(turn?.frame.height ?? 0, loop.frame.y + loop.frame.height);
  const frames = [
    ...(turn ? [{ ...turn.frame, ...(isWide && { height }) }] : []),
    { ...loop.frame, ...(isWide && { height }) },
  ];
  const between = turn ? [betweenFrames(turn.boxes, loop.boxes, isWide)] : [];
  return {
    height: height + 1,
    frames,
    boxes: [...(turn?.boxes ?? []), ...loop.boxes],
    captions: [...(turn?.captions ?? []), ...loop.captions],
    arrows: [...(turn?.arrows ?? []), ...between, ...loop.arrows],
    ...(loop.loopBack && { loopBack: loop.loopBack }),
  };
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

function groupFrame(boxes: readonly Unplaced[], place: Place, text: string) {
  if (boxes.length === 0) return undefined;
  const { x, y, width } = place;
  const placed = flow(boxes, x + PADDING, y + CAPTION + PADDING / 2, width - 2 * PADDING);
  const frame: Frame = { x, y, width, height: placed.bottom + PADDING - y, isLoop: false };
  return { ...placed, frame, captions: [{ text, x: x + PADDING, y: y + 18 }] };
}

function loopFrame({ iteration, tool, hasLoop }: ReturnType<typeof groupsOf>, place: Place) {
  const { x, y, width } = place;
  const left = x + PADDING;
  const inner = width - 2 * PADDING;
  const line = flow(iteration, left, y + CAPTION + PADDING / 2, inner);
  const captions: Caption[] = [
    { text: 'once per iteration', x: y > 0 ? left + 2 * ENTRY : left, y: y + 18 },
  ];
  const loopBack = hasLoop ? loopBackOf(line) : undefined;
  const lane = laneOf(tool, line, {
    x: left,
    y: line.bottom + (loopBack ? 42 : PADDING),
    width: inner,
  });
  if (lane) captions.push({ text: 'around tool calls', x: lane.x, y: lane.y - 11 });
  const bottom = Math.max(line.bottom + (loopBack ? 26 : 0), lane?.bottom ?? 0);
  const frame: Frame = { x, y, width, height: bottom + PADDING - y, isLoop: hasLoop };
  const boxes = [...line.boxes, ...(lane?.boxes ?? [])];
  const arrows = [...line.arrows, ...(lane?.arrows ?? [])];
  return { boxes, arrows, captions, frame, ...(loopBack && { loopBack }) };
}

/** The boxes around tool calls: right of the line of an iteration, or below it. */
function laneOf(tool: readonly Unplaced[], line: Placed, below: Place) {
  if (tool.length === 0) return undefined;
  const right = below.x + line.width + LANE_GAP;
  const isBeside = line.lines === 1 && right + lineWidth(tool) <= below.x + below.width;
  const x = isBeside ? right : below.x;
  const y = isBeside ? line.bottom - BOX_HEIGHT : below.y + CAPTION;
  return { x, y, ...flow(tool, x, y, below.width) };
}

/** From the model back to the loop: below the line, or around the lines at the left. */
function loopBackOf({ boxes, lines, bottom }: Placed) {
  const [loop, model] = [boxes[0], boxes.at(-1)];
  if (!loop || !model || loop === model) return undefined;
  const start = model.x + model.width / 2;
  const below = bottom + 16;
  const path =
    lines === 1
      ? `M${start} ${bottom}V${below}H${loop.x + loop.width / 2}V${bottom + 3}`
      : `M${start} ${bottom}V${below}H${loop.x - 8}V${loop.y + BOX_HEIGHT / 2}H${loop.x - 3}`;
  const caption = { text: LOOP_CAPTION, x: loop.x, y: below + 15 };
  if (lines === 1) caption.x += loop.width / 2 + 10;
  return { path, caption };
}

function betweenFrames(turn: readonly Box[], loop: readonly Box[], isWide: boolean): string {
  const [from, to] = [turn.at(-1), loop[0]];
  if (!from || !to) return '';
  if (isWide) return arrow(from.x + from.width, from.y + BOX_HEIGHT / 2, to.x - 3);
  const start = from.x + from.width / 2;
  const middle = from.y + BOX_HEIGHT + PADDING + LINE_GAP / 2;
  return `M${start} ${from.y + BOX_HEIGHT}V${middle}H${to.x + ENTRY}V${to.y - 3}`;
}
