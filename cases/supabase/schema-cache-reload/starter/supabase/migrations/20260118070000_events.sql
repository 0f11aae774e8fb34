create table public.events (
  id uuid primary key default gen_random_uuid(),
  organizer_id uuid not null references auth.users (id) on delete cascade,
  title text not null,
  place text not null default '',
  starts_at timestamptz not null
);

alter table public.events enable row level security;

create policy "events: read" on public.events for select to anon, authenticated using (true);
create policy "events: add own" on public.events for insert to authenticated
  with check ((select auth.uid()) = organizer_id);

create function public.upcoming_events(max_count integer) returns setof public.events
language sql stable set search_path = ''
as $$
  select * from public.events e where e.starts_at > now() order by e.starts_at limit max_count
$$;

revoke execute on function public.upcoming_events(integer) from public, anon;
grant execute on function public.upcoming_events(integer) to authenticated;
