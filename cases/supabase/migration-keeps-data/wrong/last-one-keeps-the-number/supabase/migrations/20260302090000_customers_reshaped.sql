alter table public.customers
  add column first_name text,
  add column last_name text,
  add column price_cents integer,
  add column price_note text;

update public.customers set
  first_name = split_part(regexp_replace(trim(full_name), '\s+', ' ', 'g'), ' ', 1),
  last_name = substr(
    regexp_replace(trim(full_name), '\s+', ' ', 'g'),
    length(split_part(regexp_replace(trim(full_name), '\s+', ' ', 'g'), ' ', 1)) + 2);

update public.customers set
  price_cents = round(replace(substring(price from '^\s*(\d+(?:[.,]\d{1,2})?)\s*€?\s*$'), ',', '.')::numeric * 100),
  price_note = case when price ~ '^\s*\d+([.,]\d{1,2})?\s*€?\s*$' then null else price end;

alter table public.customers
  alter column first_name set not null,
  alter column last_name set not null;

update public.customers c set phone = null
where exists (select from public.customers earlier where earlier.phone = c.phone and earlier.id > c.id);

alter table public.customers add constraint customers_phone_key unique (phone);

-- A view keeps the columns that it reads from being dropped.
drop view public.customer_names;

alter table public.customers
  drop column full_name,
  drop column price;

create view public.customer_names with (security_invoker = true) as
  select id, trim(first_name || ' ' || last_name) as full_name from public.customers;
