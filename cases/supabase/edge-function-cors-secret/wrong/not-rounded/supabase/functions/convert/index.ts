const cors = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Headers": "authorization, x-client-info, apikey, content-type",
  "Access-Control-Allow-Methods": "POST, OPTIONS",
};

function reply(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { ...cors, "Content-Type": "application/json" } });
}

interface Conversion {
  amount: number;
  from: string;
  to: string;
}

function isConversion(body: unknown): body is Conversion {
  if (typeof body !== "object" || body === null) return false;
  const { amount, from, to } = body as Record<string, unknown>;
  const currency = (value: unknown) => typeof value === "string" && /^[A-Z]{3}$/.test(value);
  return typeof amount === "number" && Number.isFinite(amount) && amount >= 0 && currency(from) && currency(to);
}

/** The rates of a currency; null where the service does not tell. */
async function ratesOf(currency: string, key: string): Promise<Record<string, unknown> | null> {
  try {
    const answer = await fetch(`https://rates.example/v1/latest?base=${currency}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    if (!answer.ok) return null;
    const { rates } = await answer.json();
    return typeof rates === "object" ? rates : null;
  } catch (error) {
    console.error("the rates cannot be had", error);
    return null;
  }
}

Deno.serve(async (request: Request) => {
  if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: cors });
  if (request.method !== "POST") return reply({ error: "send a POST request" }, 405);

  const body: unknown = await request.json().catch(() => null);
  if (!isConversion(body)) return reply({ error: "amount, from and to are needed" }, 400);

  const key = Deno.env.get("RATES_API_KEY");
  if (!key) {
    console.error("RATES_API_KEY is not set");
    return reply({ error: "conversion is not set up" }, 500);
  }

  const rates = await ratesOf(body.from, key);
  if (rates === null) return reply({ error: "there are no rates at the moment" }, 502);
  const rate = rates[body.to];
  if (typeof rate !== "number") return reply({ error: `there is no rate for ${body.to}` }, 400);
  return reply({ amount: body.amount * rate, currency: body.to });
});
