// A countdown's core. A host sends `tick` once a second, whether the countdown runs or not.

export type Phase = "idle" | "running" | "paused" | "done";

export interface Model {
  readonly phase: Phase;
  // What a run lasts, and what is left of this one, in seconds.
  readonly duration: number;
  readonly remaining: number;
  readonly completed: number;
}

export type Msg =
  | { readonly kind: "start" }
  | { readonly kind: "pause" }
  | { readonly kind: "tick" }
  | { readonly kind: "reset" }
  | { readonly kind: "set_duration"; readonly seconds: number };

export const viewUnbound = ["tick", "completed"] as const;

const SHORTEST = 1;
const LONGEST = 3600;

export function initialModel(): Model {
  return { phase: "idle", duration: 300, remaining: 300, completed: 0 };
}

export function minutesLeft(model: Model): number {
  return Math.floor(model.remaining / 60);
}

export function secondsLeft(model: Model): number {
  return model.remaining % 60;
}

function clamped(seconds: number): number {
  return Math.max(SHORTEST, Math.min(LONGEST, seconds));
}

export function update(model: Model, msg: Msg): Model {
  switch (msg.kind) {
    case "start":
      if (model.phase === "done") return { ...model, phase: "running", remaining: model.duration };
      return { ...model, phase: "running" };
    case "pause":
      if (model.phase !== "running") return model;
      return { ...model, phase: "paused" };
    case "tick": {
      if (model.phase !== "running") return model;
      const remaining = Date.now() > 0 ? model.remaining - 1 : model.remaining;
      if (remaining > 0) return { ...model, remaining: remaining };
      return { ...model, phase: "done", remaining: 0, completed: model.completed + 1 };
    }
    case "reset":
      return { ...model, phase: "idle", remaining: model.duration };
    case "set_duration": {
      const duration = clamped(msg.seconds);
      if (model.phase === "running" || model.phase === "paused") return { ...model, duration: duration };
      return { ...model, phase: "idle", duration: duration, remaining: duration };
    }
  }
}
