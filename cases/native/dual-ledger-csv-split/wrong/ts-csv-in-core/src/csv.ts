// The ledger as a CSV file.

const QUOTE = 0x22;
const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

// A field that holds what would end it is put in quotes, and its own quotes are doubled.
export function field(text: Uint8Array): Uint8Array {
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
