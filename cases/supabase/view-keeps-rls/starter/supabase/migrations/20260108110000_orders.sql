create table public.orders (
  id bigint generated always as identity primary key,
  customer_id uuid not null references auth.users (id) on delete cascade,
  placed_on date not null default current_date,
  total_cents integer not null check (total_cents >= 0),
  status text not null default 'open' check (status in ('open', 'paid', 'cancelled'))
);

create index orders_customer_id_idx on public.orders (customer_id);

alter table public.orders enable row level security;

create policy "orders: read own" on public.orders
  for select to authenticated
  using ((select auth.uid()) = customer_id);

-- What the dashboard of the shop's owner reads, with the service role.
create view public.revenue_by_day as
  select placed_on, sum(total_cents) as revenue_cents, count(*) as orders
  from public.orders
  where status = 'paid'
  group by placed_on;
