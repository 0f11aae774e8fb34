// The feed's JSON, read by what every engine has.

export interface Story {
  readonly id: number;
  readonly title: Uint8Array;
  readonly score: number;
  readonly comments: number;
}

export function readFeed(body: Uint8Array): readonly Story[] | null {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as readonly Story[];
  } catch {
    return null;
  }
}
