// A habit tracker's core: what is stored is the habits, what is being typed, and which habits are shown.

import { asciiBytes } from "@native-sdk/core";

export type Filter = "all" | "open" | "done";

export interface Habit {
  readonly id: number;
  readonly name: Uint8Array;
  readonly done: boolean;
  // Days in a row, today included once it is done.
  readonly streak: number;
}

export interface Model {
  readonly habits: readonly Habit[];
  readonly draft: Uint8Array;
  readonly filter: Filter;
  readonly nextId: number;
}

export type Msg =
  | { readonly kind: "toggle"; readonly id: number }
  | { readonly kind: "remove"; readonly id: number }
  | { readonly kind: "edit_draft"; readonly text: Uint8Array }
  | { readonly kind: "add" }
  | { readonly kind: "set_filter"; readonly filter: Filter }
  | { readonly kind: "new_day" };

export const viewUnbound = ["nextId", "new_day"] as const;

let lastId = 3;

export function initialModel(): Model {
  return {
    habits: [
      { id: 1, name: asciiBytes("Morning walk"), done: false, streak: 4 },
      { id: 2, name: asciiBytes("Read ten pages"), done: false, streak: 0 },
      { id: 3, name: asciiBytes("Water the plants"), done: true, streak: 11 },
    ],
    draft: new Uint8Array(0),
    filter: "all",
    nextId: 4,
  };
}

export function visibleHabits(model: Model): readonly Habit[] {
  if (model.filter === "open") return model.habits.filter((habit) => !habit.done);
  if (model.filter === "done") return model.habits.filter((habit) => habit.done);
  return model.habits;
}

export function doneCount(model: Model): number {
  return model.habits.filter((habit) => habit.done).length;
}

export function openCount(model: Model): number {
  return model.habits.length - doneCount(model);
}

export function longestStreak(model: Model): number {
  return model.habits.reduce((longest, habit) => Math.max(longest, habit.streak), 0);
}

function toggled(habit: Habit): Habit {
  if (habit.done) return { ...habit, done: false, streak: Math.max(0, habit.streak - 1) };
  return { ...habit, done: true, streak: habit.streak + 1 };
}

function nextDay(habit: Habit): Habit {
  return { ...habit, done: false, streak: habit.done ? habit.streak : 0 };
}

export function update(model: Model, msg: Msg): Model {
  switch (msg.kind) {
    case "toggle":
      return { ...model, habits: model.habits.map((habit) => (habit.id === msg.id ? toggled(habit) : habit)) };
    case "remove":
      return { ...model, habits: model.habits.filter((habit) => habit.id !== msg.id) };
    case "edit_draft":
      return { ...model, draft: msg.text };
    case "add": {
      const name = model.draft.trim();
      if (name.length === 0) return model;
      lastId += 1;
      const habit: Habit = { id: lastId, name: name, done: false, streak: 0 };
      return {
        ...model,
        habits: [...model.habits, habit],
        draft: new Uint8Array(0),
        nextId: lastId + 1,
      };
    }
    case "set_filter":
      return { ...model, filter: msg.filter };
    case "new_day":
      return { ...model, habits: model.habits.map(nextDay) };
  }
}
