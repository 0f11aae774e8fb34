alter table public.profiles
  drop constraint profiles_id_fkey,
  add constraint profiles_id_fkey foreign key (id) references auth.users (id) on delete cascade;

alter table public.recipes
  drop constraint recipes_author_id_fkey,
  add constraint recipes_author_id_fkey foreign key (author_id) references public.profiles (id) on delete cascade;

alter table public.comments
  alter column author_id drop not null,
  drop constraint comments_author_id_fkey,
  add constraint comments_author_id_fkey foreign key (author_id) references public.profiles (id) on delete set null;

create index recipes_author_id_idx on public.recipes (author_id);
create index comments_author_id_idx on public.comments (author_id);

create schema if not exists private;

create function private.profile_name(email text, data jsonb) returns text
language sql immutable set search_path = ''
as $$
  select coalesce(nullif(trim(data ->> 'name'), ''), nullif(split_part(email, '@', 1), ''), 'New cook')
$$;

create function private.add_profile() returns trigger
language plpgsql security definer
as $$
begin
  insert into public.profiles (id, name)
  values (new.id, private.profile_name(new.email, new.raw_user_meta_data))
  on conflict (id) do nothing;
  return new;
end
$$;
revoke execute on function private.add_profile() from public;

create trigger add_profile after insert on auth.users
  for each row execute function private.add_profile();

insert into public.profiles (id, name)
select u.id, private.profile_name(u.email, u.raw_user_meta_data) from auth.users u
on conflict (id) do nothing;
