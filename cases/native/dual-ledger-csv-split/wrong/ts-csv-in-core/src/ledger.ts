// What an entry of the ledger is, and its days and amounts as texts.

import { asciiBytes } from "@native-sdk/core";

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
export function dateText(day: number): Uint8Array {
  return day < 10 ? asciiBytes(`2026-03-0${day}`) : asciiBytes(`2026-03-${day}`);
}

// Such as -0.05: the cents' digits, at least three of them, with a dot before the last two.
export function centsText(cents: number): Uint8Array {
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
export function parsedCents(text: Uint8Array): number | null {
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

export function totalCents(entries: readonly Entry[]): number {
  let total = 0;
  for (const entry of entries) total += entry.cents;
  return total;
}
