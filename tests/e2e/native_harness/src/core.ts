// A core that asks for everything that a harness can look at. Its spec is drive_test.zig.

import { Cmd, Sub, asciiBytes } from "@native-sdk/core";
import type { AudioState } from "@native-sdk/core/events";
import { applyTextInputEvent, type TextEditState, type TextInputEvent } from "@native-sdk/core/text";

export type Phase = "idle" | "busy" | "done" | "failed";
export type Category = "food" | "rent";

export interface Item {
  readonly id: number;
  readonly title: Uint8Array;
  readonly category: Category;
  readonly parts: readonly number[];
}

export interface Model {
  readonly items: readonly Item[];
  readonly filter: Category | null;
  readonly pinned: Item | null;
  readonly draft: TextEditState;
  readonly phase: Phase;
  readonly status: number;
  readonly text: Uint8Array;
  readonly ratio: number;
  readonly at: number;
}

export type Msg =
  | { readonly kind: "add"; readonly title: Uint8Array; readonly category: Category; readonly parts: readonly number[] }
  | { readonly kind: "filter"; readonly category: Category | null }
  | { readonly kind: "pin"; readonly item: Item }
  | { readonly kind: "edit"; readonly edit: TextInputEvent }
  | { readonly kind: "scale"; readonly ratio: number }
  | { readonly kind: "load" }
  | { readonly kind: "save"; readonly text: Uint8Array }
  | { readonly kind: "probe" }
  | { readonly kind: "follow" }
  | { readonly kind: "stop" }
  | { readonly kind: "ring" }
  | { readonly kind: "hush" }
  | { readonly kind: "stamp" }
  | { readonly kind: "run" }
  | { readonly kind: "many" }
  | { readonly kind: "got"; readonly status: number; readonly body: Uint8Array }
  | { readonly kind: "wrote" }
  | { readonly kind: "exited"; readonly code: number; readonly output: Uint8Array }
  | { readonly kind: "ended"; readonly code: number }
  | { readonly kind: "line"; readonly text: Uint8Array }
  | { readonly kind: "failed"; readonly reason: Uint8Array }
  | { readonly kind: "fired"; readonly at: number }
  | {
      readonly kind: "heard";
      readonly state: AudioState;
      readonly positionMs: number;
      readonly durationMs: number;
      readonly playing: boolean;
      readonly buffering: boolean;
      readonly bands: Uint8Array;
    };

export function initialModel(): [Model, Cmd<Msg>] {
  return [
    {
      items: [],
      filter: null,
      pinned: null,
      draft: { text: new Uint8Array(0), selection: { anchor: 0, focus: 0 }, composition: null },
      phase: "idle",
      status: 0,
      text: new Uint8Array(0),
      ratio: 0.5,
      at: 0,
    },
    Cmd.readFile(asciiBytes("boot.txt"), { key: "boot", ok: "line", err: "failed" }),
  ];
}

export function shown(model: Model): readonly Item[] {
  const wanted = model.filter;
  if (wanted === null) return model.items;
  return model.items.filter((item) => item.category === wanted);
}

export function update(model: Model, msg: Msg): Model | [Model, Cmd<Msg>] {
  switch (msg.kind) {
    case "add": {
      const item: Item = { id: model.items.length, title: msg.title, category: msg.category, parts: msg.parts };
      return { ...model, items: [...model.items, item] };
    }
    case "filter":
      return { ...model, filter: msg.category };
    case "pin":
      return { ...model, pinned: msg.item };
    case "edit": {
      const next = applyTextInputEvent(model.draft, msg.edit, 64);
      if (next === null) return model;
      return { ...model, draft: next };
    }
    case "scale":
      return { ...model, ratio: msg.ratio };
    case "load":
      return [
        { ...model, phase: "busy" },
        Cmd.fetch(
          { url: asciiBytes("https://api.test/rows"), headers: { accept: "application/json" }, timeoutMs: 500 },
          { key: "rows", ok: "got", err: "failed" },
        ),
      ];
    case "save":
      return [model, Cmd.writeFile(asciiBytes("out.csv"), msg.text, { key: "out", ok: "wrote", err: "failed" })];
    case "probe":
      return [
        model,
        Cmd.spawn([asciiBytes("uname"), asciiBytes("-a")], { key: "probe", collect: true, exit: "exited", err: "failed" }),
      ];
    case "follow":
      return [model, Cmd.spawn([asciiBytes("ticks")], { key: "ticks", line: "line", exit: "ended", err: "failed" })];
    case "stop":
      return [model, Cmd.batch([Cmd.cancel("ticks"), Cmd.cancel("rows"), Cmd.cancel("auto")])];
    case "ring":
      return [model, Cmd.batch([Cmd.audioPlay("bell", { path: asciiBytes("bell.wav") }, { event: "heard" }), Cmd.audioSetVolume("bell", 0.5)])];
    case "hush":
      return [model, Cmd.audioStop("bell")];
    case "stamp":
      return [model, Cmd.now("fired")];
    case "run":
      return [{ ...model, phase: "busy" }, Cmd.delay("auto", 800, "fired")];
    case "many":
      return [model, Cmd.batch([Cmd.host("beep", model.ratio, 2), Cmd.clipboardWrite(asciiBytes("clip")), Cmd.showWindow("main"), Cmd.quitApp()])];
    case "got":
      return { ...model, phase: "done", status: msg.status, text: msg.body };
    case "wrote":
      return { ...model, phase: "done" };
    case "exited":
      return { ...model, phase: "done", status: msg.code, text: msg.output };
    case "ended":
      return { ...model, phase: "done", status: msg.code };
    case "line":
      return { ...model, text: msg.text };
    case "failed":
      return { ...model, phase: "failed", text: msg.reason };
    case "fired":
      return { ...model, at: msg.at };
    case "heard":
      return msg.state === "completed" ? { ...model, phase: "done" } : model;
  }
}

export function subscriptions(model: Model): Sub<Msg> {
  if (model.phase !== "busy") return Sub.none;
  return Sub.batch([Sub.timer("tick", 1000, "fired"), Sub.timer("slow", 60000, "fired")]);
}
