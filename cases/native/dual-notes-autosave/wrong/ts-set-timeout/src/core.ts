// Notes: a list of them, and the one that is being written.

import { asciiBytes } from "@native-sdk/core";
import { applyTextInputEvent, clampedInsertEvent, type TextEditState, type TextInputEvent } from "@native-sdk/core/text";

export interface Note {
  readonly id: number;
  readonly title: TextEditState;
  readonly body: TextEditState;
}

// A line of the list.
export interface Row {
  readonly id: number;
  readonly name: Uint8Array;
  readonly selected: boolean;
}

export interface Model {
  readonly notes: readonly Note[];
  readonly nextId: number;
  readonly selectedId: number | null;
}

export type Msg =
  | { readonly kind: "select_note"; readonly id: number }
  | { readonly kind: "new_note" }
  | { readonly kind: "delete_note"; readonly id: number }
  | { readonly kind: "title_edit"; readonly edit: TextInputEvent }
  | { readonly kind: "body_edit"; readonly edit: TextInputEvent };

export const viewUnbound = ["notes", "nextId"] as const;

const TITLE_BYTES = 60;
const BODY_BYTES = 500;
const MOST_NOTES = 32;

// Text that was there before: the caret is behind it.
function textOf(text: Uint8Array): TextEditState {
  return { text: text, selection: { anchor: text.length, focus: text.length }, composition: null };
}

function noteOf(id: number, title: Uint8Array, body: Uint8Array): Note {
  return { id: id, title: textOf(title), body: textOf(body) };
}

export function initialModel(): Model {
  return {
    notes: [
      noteOf(1, asciiBytes("Groceries"), asciiBytes("Milk\nBread")),
      noteOf(2, asciiBytes("Ideas"), asciiBytes("Paint the shed")),
      noteOf(3, asciiBytes("Scans"), asciiBytes("C:\\scans\tpage 4")),
    ],
    nextId: 4,
    selectedId: 1,
  };
}

function selectedNote(model: Model): Note | null {
  for (const note of model.notes) {
    if (note.id === model.selectedId) return note;
  }
  return null;
}

export function title(model: Model): Uint8Array {
  const note = selectedNote(model);
  return note === null ? new Uint8Array(0) : note.title.text;
}

export function body(model: Model): Uint8Array {
  const note = selectedNote(model);
  return note === null ? new Uint8Array(0) : note.body.text;
}

export function hasNote(model: Model): boolean {
  return selectedNote(model) !== null;
}

export function noteCount(model: Model): number {
  return model.notes.length;
}

export function rows(model: Model): readonly Row[] {
  return model.notes.map((note) => ({
    id: note.id,
    name: note.title.text.length > 0 ? note.title.text : asciiBytes("Untitled"),
    selected: note.id === model.selectedId,
  }));
}

// What does not fit is cut.
function edited(state: TextEditState, edit: TextInputEvent, capacity: number): TextEditState {
  const next = applyTextInputEvent(state, edit, capacity);
  if (next !== null) return next;
  const clamped = clampedInsertEvent(state, edit, capacity);
  if (clamped === null) return state;
  return applyTextInputEvent(state, clamped, capacity) ?? state;
}

// The note that is selected once another is gone: the first that is left.
function firstOf(notes: readonly Note[]): number | null {
  return notes.length > 0 ? notes[0].id : null;
}

let pause = 0;

function saveLater(model: Model): Model {
  clearTimeout(pause);
  pause = setTimeout(() => fetch("notes.tsv", { method: "PUT" }), 800);
  return model;
}

export function update(model: Model, msg: Msg): Model {
  switch (msg.kind) {
    case "select_note":
      return { ...model, selectedId: msg.id };
    case "new_note": {
      if (model.notes.length === MOST_NOTES) return model;
      const note = noteOf(model.nextId, new Uint8Array(0), new Uint8Array(0));
      return { notes: [...model.notes, note], nextId: model.nextId + 1, selectedId: note.id };
    }
    case "delete_note": {
      const notes = model.notes.filter((note) => note.id !== msg.id);
      return { ...model, notes: notes, selectedId: model.selectedId === msg.id ? firstOf(notes) : model.selectedId };
    }
    case "title_edit":
      return saveLater({
        ...model,
        notes: model.notes.map((note) =>
          note.id === model.selectedId ? { ...note, title: edited(note.title, msg.edit, TITLE_BYTES) } : note,
        ),
      });
    case "body_edit":
      return {
        ...model,
        notes: model.notes.map((note) =>
          note.id === model.selectedId ? { ...note, body: edited(note.body, msg.edit, BODY_BYTES) } : note,
        ),
      };
  }
}
