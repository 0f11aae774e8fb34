// The ledger as a CSV file.

import { asciiBytes } from "@native-sdk/core";
import { centsText, dateText, type Category, type Entry } from "./ledger.ts";

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
export function ledgerCsv(entries: readonly Entry[]): Uint8Array {
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
