// The household's ledger of March 2026: its entries, the next one that is being written, and what they come to.

import { asciiBytes, Cmd } from "@native-sdk/core";
import { applyTextInputEvent, clampedInsertEvent, type TextEditState, type TextInputEvent } from "@native-sdk/core/text";

export type ExportState = "idle" | "exporting" | "exported" | "failed";

// A line of the table.
export interface Row {
  readonly id: number;
  readonly date: Uint8Array;
  readonly payee: Uint8Array;
  readonly category: Category;
  readonly amount: Uint8Array;
}

export interface Model {
  readonly entries: readonly Entry[];
  readonly nextId: number;
  readonly newestFirst: boolean;
  // The next entry.
  readonly day: number;
  readonly category: Category;
  readonly payeeField: TextEditState;
  readonly amountField: TextEditState;
  // Counts the changes of the entries. By it an export is known: the one under way, the one that is in the file, and the
  // state of the ledger in which the last one failed.
  readonly revision: number;
  readonly exporting: number | null;
  readonly inFile: number | null;
  readonly refused: number | null;
}

export type Msg =
  | { readonly kind: "payee_edit"; readonly edit: TextInputEvent }
  | { readonly kind: "amount_edit"; readonly edit: TextInputEvent }
  | { readonly kind: "set_category"; readonly category: Category }
  | { readonly kind: "day_back" }
  | { readonly kind: "day_on" }
  | { readonly kind: "add_entry" }
  | { readonly kind: "delete_entry"; readonly id: number }
  | { readonly kind: "toggle_order" }
  | { readonly kind: "export_csv" }
  | { readonly kind: "export_done" }
  | { readonly kind: "export_failed"; readonly reason: Uint8Array };

export const viewUnbound = [
  "entries",
  "nextId",
  "payeeField",
  "amountField",
  "revision",
  "exporting",
  "inFile",
  "refused",
  "exportState",
  "export_done",
  "export_failed",
] as const;

const FIELD_BYTES = 60;
const LAST_DAY = 31;
const MOST_ENTRIES = 128;

const EMPTY: TextEditState = { text: new Uint8Array(0), selection: { anchor: 0, focus: 0 }, composition: null };

export function initialModel(): Model {
  return {
    entries: [
      { id: 1, day: 2, payee: asciiBytes("Green Grocer, Market St"), category: "food", cents: -2350 },
      { id: 2, day: 5, payee: asciiBytes("Salary"), category: "income", cents: 210000 },
      { id: 3, day: 9, payee: asciiBytes('The "Old" Mill'), category: "food", cents: -1805 },
      { id: 4, day: 14, payee: asciiBytes("Plumber"), category: "home", cents: -9000 },
      { id: 5, day: 21, payee: asciiBytes('Train, 2nd class, "Flex"'), category: "travel", cents: -4990 },
    ],
    nextId: 6,
    newestFirst: false,
    day: 31,
    category: "food",
    payeeField: EMPTY,
    amountField: EMPTY,
    revision: 0,
    exporting: null,
    inFile: null,
    refused: null,
  };
}

export type Category = "food" | "home" | "travel" | "income";

export interface Entry {
  readonly id: number;
  // Of the month, from 1 on.
  readonly day: number;
  readonly payee: Uint8Array;
  readonly category: Category;
  // What was spent is below zero.
  readonly cents: number;
}

const ZERO = 0x30;
const NINE = 0x39;
const MINUS = 0x2d;
const DOT = 0x2e;

// Such as 2026-03-09.
function dateText(day: number): Uint8Array {
  return day < 10 ? asciiBytes(`2026-03-0${day}`) : asciiBytes(`2026-03-${day}`);
}

// Such as -0.05: the cents' digits, at least three of them, with a dot before the last two.
function centsText(cents: number): Uint8Array {
  const amount = cents < 0 ? -cents : cents;
  const digits = asciiBytes(`${amount}`).padStart(3, asciiBytes("0"));
  const sign = cents < 0 ? 1 : 0;
  const dot = sign + digits.length - 2;
  const out = new Uint8Array(sign + digits.length + 1);
  if (cents < 0) out[0] = MINUS;
  out.set(digits.slice(0, digits.length - 2), sign);
  out[dot] = DOT;
  out.set(digits.slice(digits.length - 2), dot + 1);
  return out;
}

// An amount such as -12, 12.5 or 12.50; null for anything else.
function parsedCents(text: Uint8Array): number | null {
  const negative = text.length > 0 && text[0] === MINUS;
  let cents = 0;
  let digits = 0;
  let decimals = -1;
  for (const byte of negative ? text.subarray(1) : text) {
    if (byte === DOT) {
      if (decimals >= 0 || digits === 0) return null;
      decimals = 0;
    } else if (byte >= ZERO && byte <= NINE) {
      if (decimals === 2 || digits === 9) return null;
      cents = cents * 10 + (byte - ZERO);
      digits += 1;
      if (decimals >= 0) decimals += 1;
    } else {
      return null;
    }
  }
  if (digits === 0 || decimals === 0) return null;
  if (decimals === 1) cents *= 10;
  if (decimals < 0) cents *= 100;
  return negative ? -cents : cents;
}

function totalCents(entries: readonly Entry[]): number {
  let total = 0;
  for (const entry of entries) total += entry.cents;
  return total;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

// A field that holds what would end it is put in quotes, and its own quotes are doubled.
function field(text: Uint8Array): Uint8Array {
  let quotes = 0;
  let plain = true;
  for (const byte of text) {
    if (byte === QUOTE) quotes += 1;
    if (byte === QUOTE || byte === COMMA || byte === LINE_FEED || byte === CARRIAGE_RETURN) plain = false;
  }
  if (plain) return text;
  const out = new Uint8Array(text.length + quotes + 2);
  out[0] = QUOTE;
  let at = 1;
  for (const byte of text) {
    out[at] = byte;
    at += 1;
    if (byte === QUOTE) {
      out[at] = QUOTE;
      at += 1;
    }
  }
  out[at] = QUOTE;
  return out;
}

function categoryText(category: Category): Uint8Array {
  switch (category) {
    case "food":
      return asciiBytes("food");
    case "home":
      return asciiBytes("home");
    case "travel":
      return asciiBytes("travel");
    case "income":
      return asciiBytes("income");
  }
}

// A header and a line for each entry, in their order.
function ledgerCsv(entries: readonly Entry[]): Uint8Array {
  const parts: Uint8Array[] = [asciiBytes("date,payee,category,amount\n")];
  for (const entry of entries) {
    parts.push(field(dateText(entry.day)));
    parts.push(asciiBytes(","));
    parts.push(field(entry.payee));
    parts.push(asciiBytes(","));
    parts.push(field(categoryText(entry.category)));
    parts.push(asciiBytes(","));
    parts.push(field(centsText(entry.cents)));
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

export function payee(model: Model): Uint8Array {
  return model.payeeField.text;
}

export function amount(model: Model): Uint8Array {
  return model.amountField.text;
}

export function date(model: Model): Uint8Array {
  return dateText(model.day);
}

export function categories(_model: Model): readonly Category[] {
  return ["food", "home", "travel", "income"];
}

export function balance(model: Model): Uint8Array {
  return centsText(totalCents(model.entries));
}

export function entryCount(model: Model): number {
  return model.entries.length;
}

function rowOf(entry: Entry): Row {
  return {
    id: entry.id,
    date: dateText(entry.day),
    payee: entry.payee,
    category: entry.category,
    amount: centsText(entry.cents),
  };
}

export function rows(model: Model): readonly Row[] {
  const out: Row[] = [];
  for (let i = 0; i < model.entries.length; i++) {
    const at = model.newestFirst ? model.entries.length - 1 - i : i;
    out.push(rowOf(model.entries[at]));
  }
  return out;
}

export function exportState(model: Model): ExportState {
  if (model.exporting !== null) return "exporting";
  if (model.refused === model.revision) return "failed";
  return model.inFile === model.revision ? "exported" : "idle";
}

export function exportText(model: Model): Uint8Array {
  switch (exportState(model)) {
    case "idle":
      return asciiBytes("Not exported");
    case "exporting":
      return asciiBytes("Exporting");
    case "exported":
      return asciiBytes("Exported to ledger.csv");
    case "failed":
      return asciiBytes("Export failed");
  }
}

export function canExport(model: Model): boolean {
  return model.exporting === null;
}

// Whether the next entry says what it must.
export function canAdd(model: Model): boolean {
  return (
    model.entries.length < MOST_ENTRIES &&
    model.payeeField.text.trim().length > 0 &&
    parsedCents(model.amountField.text.trim()) !== null
  );
}

// What does not fit is cut.
function edited(state: TextEditState, edit: TextInputEvent): TextEditState {
  const next = applyTextInputEvent(state, edit, FIELD_BYTES);
  if (next !== null) return next;
  const clamped = clampedInsertEvent(state, edit, FIELD_BYTES);
  if (clamped === null) return state;
  return applyTextInputEvent(state, clamped, FIELD_BYTES) ?? state;
}

export function update(model: Model, msg: Msg): Model | [Model, Cmd<Msg>] {
  switch (msg.kind) {
    case "payee_edit":
      return { ...model, payeeField: edited(model.payeeField, msg.edit) };
    case "amount_edit":
      return { ...model, amountField: edited(model.amountField, msg.edit) };
    case "set_category":
      return { ...model, category: msg.category };
    case "day_back":
      return { ...model, day: Math.max(1, model.day - 1) };
    case "day_on":
      return { ...model, day: Math.min(LAST_DAY, model.day + 1) };
    case "add_entry": {
      const cents = parsedCents(model.amountField.text.trim());
      if (cents === null || !canAdd(model)) return model;
      const entry: Entry = {
        id: model.nextId,
        day: model.day,
        payee: model.payeeField.text.trim(),
        category: model.category,
        cents: cents,
      };
      return {
        ...model,
        entries: [...model.entries, entry],
        nextId: model.nextId + 1,
        revision: model.revision + 1,
        payeeField: EMPTY,
        amountField: EMPTY,
      };
    }
    case "delete_entry": {
      const entries = model.entries.filter((entry) => entry.id !== msg.id);
      if (entries.length === model.entries.length) return model;
      return { ...model, entries: entries, revision: model.revision + 1 };
    }
    case "toggle_order":
      return { ...model, newestFirst: !model.newestFirst };
    case "export_csv":
      if (!canExport(model)) return model;
      return [
        { ...model, exporting: model.revision },
        Cmd.writeFile(asciiBytes("ledger.csv"), ledgerCsv(model.entries), {
          key: "export",
          ok: "export_done",
          err: "export_failed",
        }),
      ];
    case "export_done":
      return { ...model, exporting: null, inFile: model.exporting, refused: null };
    case "export_failed":
      return { ...model, exporting: null, refused: model.revision };
  }
}
