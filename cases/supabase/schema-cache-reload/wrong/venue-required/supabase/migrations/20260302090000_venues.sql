alter table public.events
  add column capacity integer check (capacity > 0);

alter table public.events
  rename column place to venue;

-- Another signature would be a second function beside the first, and calls without a venue would fit both.
drop function public.upcoming_events(integer);

create function public.upcoming_events(max_count integer, at_venue text) returns setof public.events
language sql stable set search_path = ''
as $$
  select *
  from public.events e
  where e.starts_at > now() and (at_venue is null or e.venue = at_venue)
  order by e.starts_at
  limit max_count
$$;

revoke execute on function public.upcoming_events(integer, text) from public, anon;
grant execute on function public.upcoming_events(integer, text) to authenticated;

notify pgrst, 'reload schema';
