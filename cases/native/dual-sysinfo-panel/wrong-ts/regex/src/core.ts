// What `uname` says about this machine. The command is run on request, in the
// background; its one line is taken apart when it has ended.

import { asciiBytes, Cmd } from "@native-sdk/core";

export type State = "idle" | "probing" | "ok" | "failed" | "never_started" | "killed" | "unreadable";

export interface Info {
  readonly system: Uint8Array;
  readonly host: Uint8Array;
  readonly release: Uint8Array;
  readonly machine: Uint8Array;
}

export interface Model {
  readonly state: State;
  /** Of the last command that ended by itself. */
  readonly exitCode: number;
  /** The last good reading. */
  readonly info: Info | null;
}

export type Msg =
  | { readonly kind: "probe" }
  | { readonly kind: "probed"; readonly code: number; readonly output: Uint8Array }
  | { readonly kind: "probe_broke"; readonly reason: Uint8Array };

// What only update reads, and what only the host sends.
export const viewUnbound = ["state", "exitCode", "info", "probed", "probe_broke"] as const;

const NOTHING = asciiBytes("");

export function initialModel(): Model {
  return { state: "idle", exitCode: 0, info: null };
}

export function probing(model: Model): boolean {
  return model.state === "probing";
}

export function known(model: Model): boolean {
  return model.info !== null;
}

export function system(model: Model): Uint8Array {
  return model.info?.system ?? NOTHING;
}

export function host(model: Model): Uint8Array {
  return model.info?.host ?? NOTHING;
}

export function release(model: Model): Uint8Array {
  return model.info?.release ?? NOTHING;
}

export function machine(model: Model): Uint8Array {
  return model.info?.machine ?? NOTHING;
}

export function status(model: Model): Uint8Array {
  switch (model.state) {
    case "idle":
      return asciiBytes("Not read yet");
    case "probing":
      return asciiBytes("Reading");
    case "ok":
      return asciiBytes("Up to date");
    case "failed":
      return asciiBytes(`uname failed with code ${model.exitCode}`);
    case "never_started":
      return asciiBytes("uname could not be started");
    case "killed":
      return asciiBytes("uname was stopped before it was done");
    case "unreadable":
      return asciiBytes("uname said something unexpected");
  }
}

/** The four words of one line; null for anything else. */
function parseInfo(output: Uint8Array): Info | null {
  const found = new TextDecoder().decode(output).match(/^\s*(\S+)[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)\s*$/);
  if (found === null) return null;
  return { system: asciiBytes(found[1]), host: asciiBytes(found[2]), release: asciiBytes(found[3]), machine: asciiBytes(found[4]) };
}

/** Why there is no exit code, as the host words it. */
function brokenState(reason: Uint8Array): State {
  if (reason.startsWith(asciiBytes("truncated"))) return "unreadable";
  if (reason.startsWith(asciiBytes("signaled"))) return "killed";
  if (reason.startsWith(asciiBytes("cancelled"))) return "killed";
  return "never_started";
}

export function update(model: Model, msg: Msg): Model | [Model, Cmd<Msg>] {
  switch (msg.kind) {
    case "probe":
      if (model.state === "probing") return model;
      return [
        { ...model, state: "probing" },
        Cmd.spawn([asciiBytes("uname"), asciiBytes("-snrm")], {
          key: "uname",
          collect: true,
          exit: "probed",
          err: "probe_broke",
        }),
      ];
    case "probed": {
      if (msg.code !== 0) return { ...model, state: "failed", exitCode: msg.code };
      const info = parseInfo(msg.output);
      if (info === null) return { ...model, state: "unreadable" };
      return { ...model, state: "ok", info: info };
    }
    case "probe_broke":
      return { ...model, state: brokenState(msg.reason) };
  }
}
