// The feed's JSON: an array of flat objects, whose members come in one order.
// Each reader returns the place behind what it read, or -1.

import { asciiBytes } from "@native-sdk/core";

export interface Story {
  readonly id: number;
  readonly title: Uint8Array;
  readonly score: number;
  readonly comments: number;
}

interface ReadStory {
  readonly story: Story;
  readonly next: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const NINE = 0x39;

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function skipBlanks(body: Uint8Array, from: number): number {
  let at = from;
  while (at < body.length && isBlank(body[at])) at += 1;
  return at;
}

/** Behind a token, and the blanks before it. */
function after(body: Uint8Array, from: number, token: Uint8Array): number {
  if (from < 0) return -1;
  const at = skipBlanks(body, from);
  return body.subarray(at).startsWith(token) ? at + token.length : -1;
}

function afterMember(body: Uint8Array, from: number, name: Uint8Array): number {
  return after(body, after(body, from, name), asciiBytes(":"));
}

/** Behind a whole number that begins here. */
function afterNumber(body: Uint8Array, from: number): number {
  let at = from;
  while (at < body.length && body[at] >= ZERO && body[at] <= NINE) at += 1;
  const digits = at - from;
  if (digits === 0 || digits > 7 || (digits > 1 && body[from] === ZERO)) return -1;
  return at;
}

function numberIn(body: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) value = value * 10 + (body[at] - ZERO);
  return value;
}

/** At the quote that ends the text that begins here. */
function endOfText(body: Uint8Array, from: number): number {
  let at = from;
  while (at < body.length && body[at] !== QUOTE) {
    if (body[at] !== BACKSLASH) {
      at += 1;
      continue;
    }
    if (at + 1 >= body.length || (body[at + 1] !== QUOTE && body[at + 1] !== BACKSLASH)) return -1;
    at += 2;
  }
  return at < body.length ? at : -1;
}

function unescaped(text: Uint8Array): Uint8Array {
  if (!text.includes(BACKSLASH)) return text.slice();
  let escapes = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== BACKSLASH) continue;
    escapes += 1;
    at += 1;
  }
  const out = new Uint8Array(text.length - escapes);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === BACKSLASH) at += 1;
    const byte = text[at];
    out[length] = byte;
    length += 1;
  }
  return out;
}

function readStory(body: Uint8Array, from: number): ReadStory | null {
  const idAt = afterMember(body, after(body, from, asciiBytes("{")), asciiBytes('"id"'));
  if (idAt < 0) return null;
  const id = skipBlanks(body, idAt);
  const idEnd = afterNumber(body, id);
  const title = after(body, afterMember(body, after(body, idEnd, asciiBytes(",")), asciiBytes('"title"')), asciiBytes('"'));
  if (title < 0) return null;
  const titleEnd = endOfText(body, title);
  if (titleEnd < 0) return null;
  const scoreAt = afterMember(body, after(body, titleEnd + 1, asciiBytes(",")), asciiBytes('"score"'));
  if (scoreAt < 0) return null;
  const score = skipBlanks(body, scoreAt);
  const scoreEnd = afterNumber(body, score);
  const commentsAt = afterMember(body, after(body, scoreEnd, asciiBytes(",")), asciiBytes('"comments"'));
  if (commentsAt < 0) return null;
  const comments = skipBlanks(body, commentsAt);
  const commentsEnd = afterNumber(body, comments);
  const next = after(body, commentsEnd, asciiBytes("}"));
  if (next < 0) return null;
  const story: Story = {
    id: numberIn(body, id, idEnd),
    title: unescaped(body.subarray(title, titleEnd)),
    score: numberIn(body, score, scoreEnd),
    comments: numberIn(body, comments, commentsEnd),
  };
  return { story: story, next: next };
}

/** The stories as they come; null where the body is no feed. */
export function readFeed(body: Uint8Array): readonly Story[] | null {
  const stories: Story[] = [];
  let at = after(body, 0, asciiBytes("["));
  if (at < 0) return null;
  let end = after(body, at, asciiBytes("]"));
  while (end < 0) {
    const read = readStory(body, at);
    if (read === null) return null;
    stories.push(read.story);
    end = after(body, read.next, asciiBytes("]"));
    if (end >= 0) break;
    at = after(body, read.next, asciiBytes(","));
    if (at < 0) return null;
  }
  return skipBlanks(body, end) === body.length ? stories : null;
}
