import { PrismaClient } from "@prisma/client";

// On the process, not in this module: a development server loads the module anew and would leave clients behind.
const kept = globalThis as typeof globalThis & { prisma?: PrismaClient };

export function db(): PrismaClient {
  kept.prisma ??= new PrismaClient();
  return kept.prisma;
}
