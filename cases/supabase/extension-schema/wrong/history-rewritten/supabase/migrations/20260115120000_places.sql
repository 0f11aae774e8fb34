create extension if not exists pg_trgm with schema extensions;

create table public.places (
  id bigint generated always as identity primary key,
  name text not null,
  published boolean not null default false
);

alter table public.places enable row level security;

create policy "places: read published" on public.places
  for select to anon, authenticated
  using (published);
