drop policy "members see their team" on public.team_members;

create schema if not exists private;
revoke all on schema private from public;
grant usage on schema private to authenticated;

-- The caller's own teams, read past the policies of team_members: a policy of that table cannot ask it itself.
create function private.my_teams() returns setof uuid
language sql stable security definer set search_path = ''
as $$
  select m.team_id from public.team_members m where m.user_id = (select auth.uid())
$$;

create function private.my_admin_teams() returns setof uuid
language sql stable security definer set search_path = ''
as $$
  select m.team_id from public.team_members m where m.user_id = (select auth.uid()) and m.role = 'admin'
$$;

revoke execute on function private.my_teams(), private.my_admin_teams() from public, anon;
grant execute on function private.my_teams(), private.my_admin_teams() to authenticated;

create policy "teams: members see" on public.teams
  for select to authenticated
  using (true);

create policy "members: members see" on public.team_members
  for select to authenticated
  using (team_id in (select private.my_teams()));

create policy "members: admins add" on public.team_members
  for insert to authenticated
  with check (team_id in (select private.my_admin_teams()));

create policy "members: admins change" on public.team_members
  for update to authenticated
  using (team_id in (select private.my_admin_teams()))
  with check (team_id in (select private.my_admin_teams()));

create policy "members: admins remove" on public.team_members
  for delete to authenticated
  using (team_id in (select private.my_admin_teams()));

create policy "notes: members see" on public.team_notes
  for select to authenticated
  using (team_id in (select private.my_teams()));

create policy "notes: members add" on public.team_notes
  for insert to authenticated
  with check (team_id in (select private.my_teams()));

create policy "notes: members change" on public.team_notes
  for update to authenticated
  using (team_id in (select private.my_teams()))
  with check (team_id in (select private.my_teams()));

create policy "notes: members delete" on public.team_notes
  for delete to authenticated
  using (team_id in (select private.my_teams()));

create index on public.team_members (user_id);
create index on public.team_notes (team_id);
