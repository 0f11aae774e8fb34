create table public.profiles (
  id uuid primary key references auth.users (id),
  name text not null
);

create table public.recipes (
  id uuid primary key default gen_random_uuid(),
  author_id uuid not null references public.profiles (id),
  title text not null,
  shared boolean not null default false
);

create table public.comments (
  id uuid primary key default gen_random_uuid(),
  recipe_id uuid not null references public.recipes (id) on delete cascade,
  author_id uuid not null references public.profiles (id),
  body text not null
);

alter table public.profiles enable row level security;
alter table public.recipes enable row level security;
alter table public.comments enable row level security;

create policy "profiles: read" on public.profiles for select to authenticated using (true);
create policy "recipes: read" on public.recipes for select to authenticated
  using (shared or author_id = (select auth.uid()));
create policy "recipes: add own" on public.recipes for insert to authenticated
  with check (author_id = (select auth.uid()));
create policy "comments: read" on public.comments for select to authenticated
  using (exists (select from public.recipes r where r.id = recipe_id));
create policy "comments: add own" on public.comments for insert to authenticated
  with check (author_id = (select auth.uid()));
