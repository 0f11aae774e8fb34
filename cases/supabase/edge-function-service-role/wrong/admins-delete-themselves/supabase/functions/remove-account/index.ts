import { createClient } from "npm:@supabase/supabase-js@2";

const cors = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Headers": "authorization, x-client-info, apikey, content-type",
  "Access-Control-Allow-Methods": "POST, OPTIONS",
};
const alone = { auth: { persistSession: false, autoRefreshToken: false } };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function reply(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { ...cors, "Content-Type": "application/json" } });
}

function variable(name: string): string {
  const value = Deno.env.get(name);
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

async function remove(request: Request): Promise<Response> {
  const token = /^Bearer (.+)$/i.exec(request.headers.get("Authorization") ?? "")?.[1];
  if (!token) return reply({ error: "sign in first" }, 401);

  const visitor = createClient(variable("SUPABASE_URL"), variable("SUPABASE_ANON_KEY"), alone);
  const { data, error: refused } = await visitor.auth.getUser(token);
  if (refused || !data.user) return reply({ error: "sign in first" }, 401);
  if (data.user.app_metadata?.role !== "admin") return reply({ error: "this is for admins" }, 403);

  const body = await request.json().catch(() => null);
  const id = body?.user_id;
  if (typeof id !== "string" || !UUID.test(id)) return reply({ error: "user_id is the id of an account" }, 400);

  const admin = createClient(variable("SUPABASE_URL"), variable("SUPABASE_SERVICE_ROLE_KEY"), alone);
  const { error } = await admin.auth.admin.deleteUser(id);
  if (error?.status === 404) return reply({ error: "there is no such account" }, 404);
  if (error) throw error;
  return reply({ deleted: id });
}

Deno.serve(async (request: Request) => {
  if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: cors });
  try {
    return await remove(request);
  } catch (error) {
    console.error(error);
    return reply({ error: "the account could not be deleted" }, 500);
  }
});
