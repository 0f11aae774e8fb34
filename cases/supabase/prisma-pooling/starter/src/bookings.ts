import { db } from "./db.ts";

export async function book(guest: string, seats: number) {
  return await db().booking.create({ data: { guest, seats } });
}

export async function bookings() {
  return await db().booking.findMany({ orderBy: { createdAt: "desc" } });
}
