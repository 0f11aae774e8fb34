// A tag input's core: what is typed becomes tags at every comma, each tag once.

import { asciiBytes } from "@native-sdk/core";

export interface Tag {
  readonly id: number;
  readonly text: Uint8Array;
}

export interface Model {
  readonly tags: readonly Tag[];
  readonly draft: Uint8Array;
  readonly nextId: number;
}

export type Msg =
  | { readonly kind: "edit_draft"; readonly text: Uint8Array }
  | { readonly kind: "commit" }
  | { readonly kind: "paste"; readonly text: Uint8Array }
  | { readonly kind: "remove"; readonly id: number }
  | { readonly kind: "backspace" };

export const viewUnbound = ["nextId", "paste"] as const;

const MOST_TAGS = 8;

export function initialModel(): Model {
  return { tags: [], draft: new Uint8Array(0), nextId: 1 };
}

function sameText(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.startsWith(b);
}

export function hasTag(model: Model, text: Uint8Array): boolean {
  const wanted = text.trim();
  return model.tags.some((tag) => sameText(tag.text, wanted));
}

export function isFull(model: Model): boolean {
  return model.tags.length >= MOST_TAGS;
}

// The tags as one line: "a, b, c".
export function joined(model: Model): Uint8Array {
  const separator = asciiBytes(", ");
  let length = 0;
  for (const tag of model.tags) {
    length += tag.text.length + separator.length;
  }
  if (length === 0) return new Uint8Array(0);
  const line = new Uint8Array(length - separator.length);
  let at = 0;
  for (const [index, tag] of model.tags.entries()) {
    if (index > 0) {
      for (const byte of separator) {
        line[at] = byte;
        at += 1;
      }
    }
    for (const byte of tag.text) {
      line[at] = byte;
      at += 1;
    }
  }
  return line;
}

function withTag(model: Model, part: Uint8Array): Model {
  const text = part.trim();
  if (text.length === 0 || isFull(model) || hasTag(model, text)) return model;
  const tag: Tag = { id: model.nextId, text: text };
  return { ...model, tags: [...model.tags, tag], nextId: model.nextId + 1 };
}

function withTags(model: Model, text: Uint8Array): Model {
  let next = model;
  for (const part of text.split(asciiBytes(","))) {
    next = withTag(next, part);
  }
  return next;
}

export function update(model: Model, msg: Msg): Model {
  switch (msg.kind) {
    case "edit_draft": {
      const end = msg.text.lastIndexOf(asciiBytes(","));
      if (end < 0) return { ...model, draft: msg.text };
      return { ...withTags(model, msg.text.slice(0, end)), draft: msg.text.slice(end + 1) };
    }
    case "commit":
      return { ...withTags(model, model.draft), draft: new Uint8Array(0) };
    case "paste":
      return withTags(model, msg.text);
    case "remove":
      return { ...model, tags: model.tags.filter((tag) => tag.id !== msg.id) };
    case "backspace":
      if (model.draft.length > 0) return model;
      return { ...model, tags: model.tags.slice(0, -1) };
  }
}
