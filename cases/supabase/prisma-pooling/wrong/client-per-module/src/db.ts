import { PrismaClient } from "@prisma/client";

const client = new PrismaClient();

export function db(): PrismaClient {
  return client;
}
