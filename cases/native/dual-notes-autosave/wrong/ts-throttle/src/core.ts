// Notes: a list of them, the one that is being written, and the file that they are kept in.

import { asciiBytes, Cmd } from "@native-sdk/core";
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

export type SaveState = "idle" | "pending" | "saving" | "saved" | "failed";

export interface Model {
  readonly notes: readonly Note[];
  readonly nextId: number;
  readonly selectedId: number | null;
  // Changes since the start, how many of them the file has, and how many the save that is under way took along.
  readonly changes: number;
  readonly inFile: number;
  readonly underWay: number | null;
  // The next save begins when this one is back.
  readonly due: boolean;
  // Whether the last save failed, with nothing changed since.
  readonly stuck: boolean;
}

export type Msg =
  | { readonly kind: "select_note"; readonly id: number }
  | { readonly kind: "new_note" }
  | { readonly kind: "delete_note"; readonly id: number }
  | { readonly kind: "title_edit"; readonly edit: TextInputEvent }
  | { readonly kind: "body_edit"; readonly edit: TextInputEvent }
  | { readonly kind: "save_now" }
  | { readonly kind: "autosave_due"; readonly at: number }
  | { readonly kind: "save_done" }
  | { readonly kind: "save_failed"; readonly reason: Uint8Array };

export const viewUnbound = [
  "notes",
  "nextId",
  "changes",
  "inFile",
  "underWay",
  "due",
  "stuck",
  "saveState",
  "autosave_due",
  "save_done",
  "save_failed",
] as const;

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
    changes: 0,
    inFile: 0,
    underWay: null,
    due: false,
    stuck: false,
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

export function saveState(model: Model): SaveState {
  if (model.underWay === model.changes) return "saving";
  if (model.inFile === model.changes) return model.changes === 0 ? "idle" : "saved";
  return model.stuck ? "failed" : "pending";
}

export function saveText(model: Model): Uint8Array {
  switch (saveState(model)) {
    case "idle":
      return asciiBytes("No changes");
    case "pending":
      return asciiBytes("Unsaved changes");
    case "saving":
      return asciiBytes("Saving");
    case "saved":
      return asciiBytes("All changes saved");
    case "failed":
      return asciiBytes("Could not save");
  }
}

// Whether there is anything that neither the file nor the save under way has.
export function canSave(model: Model): boolean {
  return model.inFile !== model.changes && model.underWay !== model.changes;
}

const TAB = 0x09;
const NEWLINE = 0x0a;
const BACKSLASH = 0x5c;

// Within a text, what would end a field or a line is written as two characters.
function escaped(text: Uint8Array): Uint8Array {
  let length = text.length;
  for (const byte of text) {
    if (byte === TAB || byte === NEWLINE || byte === BACKSLASH) length += 1;
  }
  const out = new Uint8Array(length);
  let at = 0;
  for (const byte of text) {
    if (byte === TAB || byte === NEWLINE || byte === BACKSLASH) {
      out[at] = BACKSLASH;
      out[at + 1] = byte === TAB ? 0x74 : byte === NEWLINE ? 0x6e : BACKSLASH;
      at += 2;
    } else {
      out[at] = byte;
      at += 1;
    }
  }
  return out;
}

// What the file holds of these notes.
function tsv(notes: readonly Note[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const note of notes) {
    parts.push(asciiBytes(`${note.id}\t`));
    parts.push(escaped(note.title.text));
    parts.push(asciiBytes("\t"));
    parts.push(escaped(note.body.text));
    parts.push(asciiBytes("\n"));
  }
  let length = 0;
  for (const part of parts) length += part.length;
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

// What the file would hold tells whether something changed: a caret that moved does not.
function sameFile(a: Model, b: Model): boolean {
  const before = tsv(a.notes);
  const after = tsv(b.notes);
  return before.length === after.length && before.startsWith(after);
}

function changed(model: Model): Model {
  return { ...model, changes: model.changes + 1, stuck: false };
}

// A save takes along everything there is.
function begun(model: Model): Model {
  return { ...model, underWay: model.changes, due: false, stuck: false };
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

function withTitle(model: Model, edit: TextInputEvent): Model {
  return {
    ...model,
    notes: model.notes.map((note) =>
      note.id === model.selectedId ? { ...note, title: edited(note.title, edit, TITLE_BYTES) } : note,
    ),
  };
}

function withBody(model: Model, edit: TextInputEvent): Model {
  return {
    ...model,
    notes: model.notes.map((note) =>
      note.id === model.selectedId ? { ...note, body: edited(note.body, edit, BODY_BYTES) } : note,
    ),
  };
}

export function update(model: Model, msg: Msg): Model | [Model, Cmd<Msg>] {
  switch (msg.kind) {
    case "select_note":
      return { ...model, selectedId: msg.id };
    case "new_note": {
      if (model.notes.length === MOST_NOTES) return model;
      const note = noteOf(model.nextId, new Uint8Array(0), new Uint8Array(0));
      const next: Model = { ...model, notes: [...model.notes, note], nextId: model.nextId + 1, selectedId: note.id };
      if (model.inFile !== model.changes && model.underWay !== model.changes) return changed(next);
      return [changed(next), Cmd.delay("autosave", 800, "autosave_due")];
    }
    case "delete_note": {
      const notes = model.notes.filter((note) => note.id !== msg.id);
      if (notes.length === model.notes.length) return model;
      const selectedId = model.selectedId === msg.id ? firstOf(notes) : model.selectedId;
      return [
        changed({ ...model, notes: notes, selectedId: selectedId }),
        Cmd.delay("autosave", 800, "autosave_due"),
      ];
    }
    case "title_edit": {
      const next = withTitle(model, msg.edit);
      if (sameFile(model, next)) return next;
      if (model.inFile !== model.changes && model.underWay !== model.changes) return changed(next);
      return [changed(next), Cmd.delay("autosave", 800, "autosave_due")];
    }
    case "body_edit": {
      const next = withBody(model, msg.edit);
      if (sameFile(model, next)) return next;
      if (model.inFile !== model.changes && model.underWay !== model.changes) return changed(next);
      return [changed(next), Cmd.delay("autosave", 800, "autosave_due")];
    }
    case "save_now":
      if (!canSave(model)) return model;
      if (model.underWay !== null) return [{ ...model, due: true }, Cmd.cancel("autosave")];
      return [
        begun(model),
        Cmd.batch([
          Cmd.cancel("autosave"),
          Cmd.writeFile(asciiBytes("notes.tsv"), tsv(model.notes), {
            key: "save",
            ok: "save_done",
            err: "save_failed",
          }),
        ]),
      ];
    case "autosave_due":
      if (!canSave(model)) return model;
      if (model.underWay !== null) return { ...model, due: true };
      return [
        begun(model),
        Cmd.writeFile(asciiBytes("notes.tsv"), tsv(model.notes), {
          key: "save",
          ok: "save_done",
          err: "save_failed",
        }),
      ];
    case "save_done": {
      const landed: Model = { ...model, inFile: model.underWay ?? model.inFile, underWay: null };
      if (!model.due) return landed;
      return [
        begun(landed),
        Cmd.batch([
          Cmd.cancel("autosave"),
          Cmd.writeFile(asciiBytes("notes.tsv"), tsv(model.notes), {
            key: "save",
            ok: "save_done",
            err: "save_failed",
          }),
        ]),
      ];
    }
    case "save_failed": {
      const back: Model = { ...model, underWay: null, stuck: model.underWay === model.changes };
      if (!model.due) return back;
      return [
        begun(back),
        Cmd.batch([
          Cmd.cancel("autosave"),
          Cmd.writeFile(asciiBytes("notes.tsv"), tsv(model.notes), {
            key: "save",
            ok: "save_done",
            err: "save_failed",
          }),
        ]),
      ];
    }
  }
}
