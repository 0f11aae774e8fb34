create extension if not exists pg_trgm with schema extensions;

create index places_name_trgm_idx on public.places (name);

create function public.search_places(query text) returns setof public.places
language sql stable security invoker set search_path = ''
as $$
  select p.*
  from public.places p
  where p.name operator(extensions.%) query
  order by extensions.similarity(p.name, query) desc, p.id
  limit 20
$$;

grant execute on function public.search_places(text) to anon, authenticated;
