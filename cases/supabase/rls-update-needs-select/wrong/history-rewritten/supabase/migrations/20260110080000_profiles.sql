create table public.profiles (
  id uuid primary key references auth.users (id) on delete cascade,
  display_name text not null,
  bio text not null default '',
  plan text not null default 'free' check (plan in ('free', 'paid')),
  updated_at timestamptz not null default now()
);

alter table public.profiles enable row level security;

create policy "profiles: create own" on public.profiles
  for insert to authenticated
  with check ((select auth.uid()) = id and plan = 'free');

create policy "profiles: change own" on public.profiles
  for update to authenticated
  using ((select auth.uid()) = id)
  with check ((select auth.uid()) = id);
