create table public.customers (
  id bigint generated always as identity primary key,
  full_name text not null,
  phone text,
  price text not null
);

comment on column public.customers.price is 'The monthly price, as somebody typed it: 12, 12.50, 12,50 €.';

alter table public.customers enable row level security;

create view public.customer_names with (security_invoker = true) as
  select id, full_name from public.customers;
