-- An update finds only rows that a select policy shows.
create policy "profiles: read own" on public.profiles
  for select to authenticated
  using ((select auth.uid()) = id);

alter policy "profiles: change own" on public.profiles
  with check ((select auth.uid()) = id);

-- Policies cannot tell columns apart: privileges do.
revoke update on public.profiles from authenticated, anon, service_role;
grant update (display_name, bio, updated_at) on public.profiles to authenticated;
