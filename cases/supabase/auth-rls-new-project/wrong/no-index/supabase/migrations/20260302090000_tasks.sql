create table public.tasks (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  title text not null,
  done boolean not null default false,
  created_at timestamptz not null default now()
);

alter table public.tasks enable row level security;

create policy "own tasks: see" on public.tasks
  for select to authenticated
  using ((select auth.uid()) = user_id);

create policy "own tasks: add" on public.tasks
  for insert to authenticated
  with check ((select auth.uid()) = user_id);

create policy "own tasks: change" on public.tasks
  for update to authenticated
  using ((select auth.uid()) = user_id)
  with check ((select auth.uid()) = user_id);

create policy "own tasks: remove" on public.tasks
  for delete to authenticated
  using ((select auth.uid()) = user_id);
