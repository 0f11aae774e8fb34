// A feed of stories, fetched on request and shown in one of two orders.

import { asciiBytes, Cmd } from "@native-sdk/core";
import { orderIgnoreCase } from "@native-sdk/core/text";
import { readFeed } from "./feed.ts";
import type { Story } from "./feed.ts";

export type Order = "score" | "title";
export type State = "idle" | "loading" | "loaded" | "empty" | "failed";
export type Problem = "status" | "unreadable" | "no_answer";

export interface Model {
  readonly state: State;
  /** Why it failed; looked at in that state alone. */
  readonly problem: Problem;
  readonly httpStatus: number;
  /** Of the last good answer, as they came. */
  readonly stories: readonly Story[];
  readonly order: Order;
}

export type Msg =
  | { readonly kind: "refresh" }
  | { readonly kind: "sort_by"; readonly order: Order }
  | { readonly kind: "fetched"; readonly status: number; readonly body: Uint8Array }
  | { readonly kind: "fetch_failed"; readonly reason: Uint8Array };

// What only update reads, and what only the host sends.
export const viewUnbound = ["state", "problem", "httpStatus", "stories", "fetched", "fetch_failed"] as const;

const ORDERS: readonly Order[] = ["score", "title"];

export function initialModel(): Model {
  return { state: "idle", problem: "no_answer", httpStatus: 0, stories: [], order: "score" };
}

export function loading(model: Model): boolean {
  return model.state === "loading";
}

export function hasRows(model: Model): boolean {
  return model.stories.length > 0;
}

export function orders(model: Model): readonly Order[] {
  return ORDERS;
}

/** The stories in the order that holds. Equal ones stay as they came: sorting is stable. */
export function rows(model: Model): readonly Story[] {
  return sorted(model.stories, model.order);
}

function sorted(stories: readonly Story[], order: Order): readonly Story[] {
  if (order === "score") return stories.toSorted((a, b) => b.score - a.score);
  return stories.toSorted((a, b) => orderIgnoreCase(a.title, b.title));
}

function problemText(model: Model): Uint8Array {
  switch (model.problem) {
    case "status":
      return asciiBytes(`Could not load: status ${model.httpStatus}`);
    case "unreadable":
      return asciiBytes("Could not load: unreadable answer");
    case "no_answer":
      return asciiBytes("Could not load: no answer");
  }
}

export function status(model: Model): Uint8Array {
  switch (model.state) {
    case "idle":
      return asciiBytes("Nothing loaded yet");
    case "loading":
      return asciiBytes("Loading");
    case "loaded":
      if (model.stories.length === 1) return asciiBytes("1 story");
      return asciiBytes(`${model.stories.length} stories`);
    case "empty":
      return asciiBytes("The feed is empty");
    case "failed":
      return problemText(model);
  }
}

export function update(model: Model, msg: Msg): Model | [Model, Cmd<Msg>] {
  switch (msg.kind) {
    case "refresh":
      if (model.state === "loading") return model;
      return [
        { ...model, state: "loading" },
        Cmd.fetch(
          { url: asciiBytes("https://feed.example.com/v1/stories.json") },
          { key: "feed", ok: "fetched", err: "fetch_failed" },
        ),
      ];
    case "sort_by":
      return { ...model, order: msg.order, stories: sorted(model.stories, msg.order) };
    case "fetched": {
      if (msg.status !== 200) return { ...model, state: "failed", problem: "status", httpStatus: msg.status };
      const stories = readFeed(msg.body);
      if (stories === null) return { ...model, state: "failed", problem: "unreadable" };
      return { ...model, state: stories.length === 0 ? "empty" : "loaded", stories: stories };
    }
    case "fetch_failed": {
      const cut = msg.reason.startsWith(asciiBytes("truncated"));
      return { ...model, state: "failed", problem: cut ? "unreadable" : "no_answer" };
    }
  }
}
