// The colors and patterns of the panel for a canvas, which knows no CSS variables.

/** The panel's own colors, as in style.css. */
export const roles = [
  "on", "blk", "pre", "sel", "dim", "fg", "bg", "line", "grid", "sel-text", "on-soft", "blk-soft", "pre-soft", "blk-ink", "neutral",
] as const;
export type Role = (typeof roles)[number];
export type Palette = Readonly<Record<Role, string>>;

/** Reads the colors of the present theme. */
export function readPalette(): Palette {
  const probe = document.createElement("span");
  document.body.append(probe);
  const entries = roles.map((role) => {
    probe.style.color = `var(--${role})`;
    return [role, getComputedStyle(probe).color] as const;
  });
  probe.remove();
  return Object.fromEntries(entries) as Record<Role, string>;
}

/** The font of words in a chart; `scale`: device pixels per CSS pixel. */
export const labelFont = (scale: number): string => `${String(11 * scale)}px ${getComputedStyle(document.body).fontFamily}`;

const tiles = new Map<string, HTMLCanvasElement>();

function tile(kind: string, front: string, back: string, size: number, draw: (context: CanvasRenderingContext2D) => void): HTMLCanvasElement {
  const key = `${kind} ${front} ${back} ${String(size)}`;
  const known = tiles.get(key);
  if (known !== undefined) return known;
  const canvas = document.createElement("canvas");
  canvas.width = size;
  canvas.height = size;
  const context = canvas.getContext("2d");
  if (context !== null) {
    context.fillStyle = back;
    context.fillRect(0, 0, size, size);
    context.fillStyle = front;
    context.strokeStyle = front;
    draw(context);
  }
  tiles.set(key, canvas);
  return canvas;
}

/** Stripes at 45°, or at −45° with `falling`. */
function stripes(front: string, back: string, size: number, width: number, falling: boolean): HTMLCanvasElement {
  return tile(`stripes ${String(falling)} ${String(width)}`, front, back, size, (context) => {
    context.lineWidth = width;
    context.beginPath();
    for (const shift of [-size, 0, size]) {
      context.moveTo(shift, falling ? 0 : size);
      context.lineTo(shift + size, falling ? size : 0);
    }
    context.stroke();
  });
}

function dots(front: string, back: string, size: number, radius: number): HTMLCanvasElement {
  return tile("dots", front, back, size, (context) => {
    context.beginPath();
    context.arc(size / 2, size / 2, radius, 0, 2 * Math.PI);
    context.fill();
  });
}

export type Fill = string | CanvasPattern;

/** The fill of a state in a chart: on-CPU solid, blocked hatched, preempted dotted. */
export function fillOf(context: CanvasRenderingContext2D, palette: Palette, state: "on" | "blk" | "pre" | "lost", scale: number): Fill {
  const size = Math.max(4, Math.round(5 * scale));
  let source: HTMLCanvasElement;
  if (state === "on") return palette.on;
  if (state === "blk") source = stripes("rgb(0 0 0 / 0.38)", palette.blk, size, 1.2 * scale, false);
  else if (state === "lost") source = stripes(palette.dim, "transparent", size, scale, true);
  else source = dots(palette.bg, palette.pre, size, size / 4.5);
  return context.createPattern(source, "repeat") ?? palette.on;
}

/** The fill of a frame, pale enough for a text. The sizes are CSS pixels: a canvas draws patterns in its own scale. */
export function frameFill(context: CanvasRenderingContext2D, palette: Palette, state: "on" | "blk" | "pre" | "lost" | "smaller"): Fill {
  if (state === "on") return palette["on-soft"];
  if (state === "smaller") return palette.neutral;
  let source = dots(palette.pre, palette["pre-soft"], 5, 1);
  if (state === "blk") source = stripes(palette["blk-ink"], palette["blk-soft"], 10, 1.2, false);
  if (state === "lost") source = stripes(palette.dim, palette.bg, 8, 1, true);
  return context.createPattern(source, "repeat") ?? palette["on-soft"];
}
