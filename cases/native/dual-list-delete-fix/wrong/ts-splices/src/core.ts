// What to pack for a trip: the items, what the list shows of them, and the two fields that the user types into.

import { asciiBytes } from "@native-sdk/core";
import {
  applyTextInputEvent,
  clampedInsertEvent,
  containsIgnoreCase,
  type TextEditState,
  type TextInputEvent,
} from "@native-sdk/core/text";

export type Filter = "all" | "open" | "done";

export interface Item {
  readonly id: number;
  readonly title: Uint8Array;
  readonly done: boolean;
}

export interface Model {
  readonly items: readonly Item[];
  readonly nextId: number;
  readonly filter: Filter;
  readonly querying: TextEditState;
  readonly drafting: TextEditState;
  // What the list shows: `refreshed` keeps it.
  readonly visible: readonly Item[];
}

export type Msg =
  | { readonly kind: "draft_edit"; readonly edit: TextInputEvent }
  | { readonly kind: "query_edit"; readonly edit: TextInputEvent }
  | { readonly kind: "add_item" }
  | { readonly kind: "toggle_item"; readonly id: number }
  | { readonly kind: "delete_item"; readonly id: number }
  | { readonly kind: "clear_done" }
  | { readonly kind: "set_filter"; readonly filter: Filter };

export const viewUnbound = ["items", "nextId", "querying", "drafting", "visible"] as const;

const TITLE_BYTES = 48;

const EMPTY: TextEditState = { text: new Uint8Array(0), selection: { anchor: 0, focus: 0 }, composition: null };

const SEED: readonly Item[] = [
  { id: 1, title: asciiBytes("Passport"), done: true },
  { id: 2, title: asciiBytes("Rain jacket"), done: false },
  { id: 3, title: asciiBytes("Phone charger"), done: false },
  { id: 4, title: asciiBytes("Sun hat"), done: true },
  { id: 5, title: asciiBytes("Phrase book"), done: false },
];

export function initialModel(): Model {
  return { items: SEED, nextId: 6, filter: "all", querying: EMPTY, drafting: EMPTY, visible: SEED };
}

export function draft(model: Model): Uint8Array {
  return model.drafting.text;
}

export function query(model: Model): Uint8Array {
  return model.querying.text;
}

export function filters(_model: Model): readonly Filter[] {
  return ["all", "open", "done"];
}

export function visibleItems(model: Model): readonly Item[] {
  return model.visible;
}

export function itemCount(model: Model): number {
  return model.items.length;
}

export function openCount(model: Model): number {
  return model.items.filter((item) => !item.done).length;
}

function shows(filter: Filter, item: Item): boolean {
  switch (filter) {
    case "all":
      return true;
    case "open":
      return !item.done;
    case "done":
      return item.done;
  }
}

function refreshed(model: Model): Model {
  const wanted = model.querying.text.trim();
  return {
    ...model,
    visible: model.items.filter((item) => shows(model.filter, item) && containsIgnoreCase(item.title, wanted)),
  };
}

// What does not fit is cut.
function edited(state: TextEditState, edit: TextInputEvent): TextEditState {
  const next = applyTextInputEvent(state, edit, TITLE_BYTES);
  if (next !== null) return next;
  const clamped = clampedInsertEvent(state, edit, TITLE_BYTES);
  if (clamped === null) return state;
  return applyTextInputEvent(state, clamped, TITLE_BYTES) ?? state;
}

export function update(model: Model, msg: Msg): Model {
  switch (msg.kind) {
    case "draft_edit":
      return { ...model, drafting: edited(model.drafting, msg.edit) };
    case "query_edit":
      return refreshed({ ...model, querying: edited(model.querying, msg.edit) });
    case "add_item": {
      const title = model.drafting.text.trim();
      if (title.length === 0) return model;
      const item: Item = { id: model.nextId, title: title, done: false };
      return refreshed({ ...model, items: [...model.items, item], nextId: model.nextId + 1, drafting: EMPTY });
    }
    case "toggle_item":
      return refreshed({
        ...model,
        items: model.items.map((item) => (item.id === msg.id ? { ...item, done: !item.done } : item)),
      });
    case "delete_item":
      model.visible.splice(model.visible.findIndex((item) => item.id === msg.id), 1);
      return { ...model, items: model.items.filter((item) => item.id !== msg.id) };
    case "clear_done":
      return { ...model, items: model.items.filter((item) => !item.done) };
    case "set_filter":
      return refreshed({ ...model, filter: msg.filter });
  }
}
