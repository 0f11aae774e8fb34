// A tag input's core: what is typed becomes tags at every comma, each tag once.

import { asciiBytes } from "@native-sdk/core";

export interface Tag {
  readonly id: number;
  readonly text: string;
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

function sameText(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) {
    if (a[i] !== b[i]) return false;
  }
  return true;
}

export function hasTag(model: Model, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return model.tags.some((tag) => sameText(tag.text.toLowerCase(), wanted));
}

export function isFull(model: Model): boolean {
  return model.tags.length >= MOST_TAGS;
}

// The tags as one line: "a, b, c".
export function joined(model: Model): string {
  let line = "";
  for (const tag of model.tags) {
    line = line === "" ? tag.text : line + ", " + tag.text;
  }
  return line;
}

function withTag(model: Model, part: string): Model {
  const text = part.trim();
  if (text.length === 0 || isFull(model) || hasTag(model, text)) return model;
  const tag: Tag = { id: model.nextId, text: text };
  return { ...model, tags: [...model.tags, tag], nextId: model.nextId + 1 };
}

function textOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    text += String.fromCharCode(byte);
  }
  return text;
}

function withTags(model: Model, text: Uint8Array): Model {
  let next = model;
  for (const part of textOf(text).split(",")) {
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
