// The ledger as a CSV file.

import { centsText, dateText, type Entry } from "./ledger.ts";

function field(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// A header and a line for each entry, in their order.
export function ledgerCsv(entries: readonly Entry[]): Uint8Array {
  const decoder = new TextDecoder();
  const lines = entries.map((entry) =>
    [decoder.decode(dateText(entry.day)), decoder.decode(entry.payee), entry.category, decoder.decode(centsText(entry.cents))]
      .map(field)
      .join(","),
  );
  return new TextEncoder().encode(["date,payee,category,amount", ...lines].join("\n") + "\n");
}
