// Phases of focus and rest, one after the other, on a timer of a second that
// exists while a phase runs.

import { asciiBytes, Cmd, Sub } from "@native-sdk/core";
import type { AudioState } from "@native-sdk/core/events";

export type Phase = "focus" | "rest";

export interface Model {
  readonly phase: Phase;
  readonly running: boolean;
  /** Seconds of the phase that are over. */
  readonly elapsed: number;
  /** Focus phases that came to their end. */
  readonly completed: number;
}

export type Msg =
  | { readonly kind: "start" }
  | { readonly kind: "pause" }
  | { readonly kind: "skip" }
  | { readonly kind: "reset" }
  | { readonly kind: "tick"; readonly at: number }
  | {
      readonly kind: "chime";
      readonly state: AudioState;
      readonly positionMs: number;
      readonly durationMs: number;
      readonly playing: boolean;
      readonly buffering: boolean;
      readonly bands: Uint8Array;
    };

// What only update reads, and what only the host sends.
export const viewUnbound = ["phase", "completed", "remaining", "tick", "chime"] as const;

const FOCUS_SECONDS = 1500;
const REST_SECONDS = 300;

export function initialModel(): Model {
  return { phase: "focus", running: false, elapsed: 0, completed: 0 };
}

function fullTime(phase: Phase): number {
  return phase === "focus" ? FOCUS_SECONDS : REST_SECONDS;
}

export function remaining(model: Model): number {
  return fullTime(model.phase) - model.elapsed;
}

/** Of the whole phase; its bar is what is over of it. */
export function fullSeconds(model: Model): number {
  return fullTime(model.phase);
}

export function phaseName(model: Model): Uint8Array {
  return model.phase === "focus" ? asciiBytes("Focus") : asciiBytes("Rest");
}

function twoDigits(value: number): Uint8Array {
  return asciiBytes(`${value}`).padStart(2, asciiBytes("0"));
}

export function clock(model: Model): Uint8Array {
  // Division makes a fraction, which no text can take: minutes are counted.
  let minutes = 0;
  let seconds = fullTime(model.phase) - model.elapsed;
  while (seconds >= 60) {
    seconds -= 60;
    minutes += 1;
  }
  const out = new Uint8Array(5);
  out.set(twoDigits(minutes), 0);
  out.set(asciiBytes(":"), 2);
  out.set(twoDigits(seconds), 3);
  return out;
}

export function summary(model: Model): Uint8Array {
  if (model.completed === 1) return asciiBytes("1 focus phase done");
  return asciiBytes(`${model.completed} focus phases done`);
}

/** The other kind of phase, from its start. */
function nextPhase(model: Model): Model {
  return { ...model, phase: model.phase === "focus" ? "rest" : "focus", elapsed: 0 };
}

let ticking = 0;

export function update(model: Model, msg: Msg): Model | [Model, Cmd<Msg>] {
  switch (msg.kind) {
    case "start":
      ticking = setInterval(() => update(model, { kind: "tick", at: 0 }), 1000);
      return { ...model, running: true };
    case "pause":
      clearInterval(ticking);
      return { ...model, running: false };
    case "skip":
      return nextPhase(model);
    case "reset":
      return { ...model, phase: "focus", running: false, elapsed: 0 };
    case "tick": {
      if (!model.running) return model;
      const elapsed = model.elapsed + 1;
      if (elapsed < fullTime(model.phase)) return { ...model, elapsed: elapsed };
      const completed = model.phase === "focus" ? model.completed + 1 : model.completed;
      return [
        { ...nextPhase(model), completed: completed },
        Cmd.audioPlay("chime", { path: asciiBytes("assets/chime.wav") }, { event: "chime" }),
      ];
    }
    case "chime":
      // Heard or not, the timer goes on.
      return model;
  }
}

export function subscriptions(model: Model): Sub<Msg> {
  if (!model.running) return Sub.none;
  return Sub.timer("second", 1000, "tick");
}
