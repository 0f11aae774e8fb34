create policy "rooms: members receive" on realtime.messages
  for select to authenticated
  using (
    extension in ('broadcast', 'presence')
    and exists (
      select from public.room_members m
      where m.user_id = (select auth.uid()) and 'room:' || m.room_id = (select realtime.topic())
    )
  );

create policy "rooms: members send" on realtime.messages
  for insert to authenticated
  with check (
    extension in ('broadcast', 'presence')
    and exists (
      select from public.room_members m
      where m.user_id = (select auth.uid()) and 'room:' || m.room_id = (select realtime.topic())
        and (extension = 'presence' or not m.muted)
    )
  );

create policy "messages: members read" on public.room_messages
  for select to authenticated
  using (room_id in (select m.room_id from public.room_members m where m.user_id = (select auth.uid())));

create index room_messages_room_id_idx on public.room_messages (room_id);
