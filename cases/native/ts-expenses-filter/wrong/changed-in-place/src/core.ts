// An expense ledger's core. Amounts are whole cents.

import { asciiBytes } from "@native-sdk/core";

export type Category = "food" | "travel" | "office";

export interface Expense {
  readonly id: number;
  readonly title: Uint8Array;
  readonly cents: number;
  readonly category: Category;
}

export interface Model {
  readonly expenses: Expense[];
  readonly title: Uint8Array;
  readonly cents: number;
  readonly category: Category;
  readonly nextId: number;
  // The one category that is shown; null shows all.
  readonly filter: Category | null;
}

export type Msg =
  | { readonly kind: "edit_title"; readonly text: Uint8Array }
  | { readonly kind: "set_amount"; readonly cents: number }
  | { readonly kind: "choose_category"; readonly category: Category }
  | { readonly kind: "add" }
  | { readonly kind: "remove"; readonly id: number }
  | { readonly kind: "toggle_filter"; readonly category: Category }
  | { readonly kind: "clear_filter" };

export const viewUnbound = ["nextId"] as const;

export function initialModel(): Model {
  return {
    expenses: [
      { id: 1, title: asciiBytes("Team lunch"), cents: 6420, category: "food" },
      { id: 2, title: asciiBytes("Train to Leipzig"), cents: 8900, category: "travel" },
      { id: 3, title: asciiBytes("Printer paper"), cents: 1250, category: "office" },
      { id: 4, title: asciiBytes("Coffee beans"), cents: 1890, category: "food" },
    ],
    title: new Uint8Array(0),
    cents: 0,
    category: "food",
    nextId: 5,
    filter: null,
  };
}

// The sum of the whole ledger, in cents.
export function total(model: Model): number {
  return model.expenses.reduce((sum, expense) => sum + expense.cents, 0);
}

export function expenseCount(model: Model): number {
  return model.expenses.length;
}

export function visibleExpenses(model: Model): readonly Expense[] {
  const wanted = model.filter;
  if (wanted === null) return model.expenses;
  return model.expenses.filter((expense) => expense.category === wanted);
}

// The sum of what is shown, in cents.
export function visibleTotal(model: Model): number {
  return visibleExpenses(model).reduce((sum, expense) => sum + expense.cents, 0);
}

export function isFiltered(model: Model): boolean {
  return model.filter !== null;
}

// A filter that no expense passes, which is another emptiness than that of an empty ledger.
export function nothingMatches(model: Model): boolean {
  return model.expenses.length > 0 && visibleExpenses(model).length === 0;
}

// An expense needs a title and an amount above zero.
export function canAdd(model: Model): boolean {
  return model.title.trim().length > 0 && model.cents > 0;
}

export function update(model: Model, msg: Msg): Model {
  switch (msg.kind) {
    case "edit_title":
      return { ...model, title: msg.text };
    case "set_amount":
      return { ...model, cents: Math.max(0, msg.cents) };
    case "choose_category":
      return { ...model, category: msg.category };
    case "add": {
      if (!canAdd(model)) return model;
      model.expenses.push({
        id: model.nextId,
        title: model.title.trim(),
        cents: model.cents,
        category: model.category,
      });
      return {
        ...model,
        title: new Uint8Array(0),
        cents: 0,
        nextId: model.nextId + 1,
      };
    }
    case "remove":
      return { ...model, expenses: model.expenses.filter((expense) => expense.id !== msg.id) };
    case "toggle_filter":
      return { ...model, filter: model.filter === msg.category ? null : msg.category };
    case "clear_filter":
      return { ...model, filter: null };
  }
}
