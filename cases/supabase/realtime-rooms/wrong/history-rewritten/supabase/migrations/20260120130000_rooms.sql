create table public.rooms (
  id uuid primary key default gen_random_uuid(),
  name text not null
);

create table public.room_members (
  room_id uuid not null references public.rooms (id) on delete cascade,
  user_id uuid not null references auth.users (id) on delete cascade,
  muted boolean not null default false,
  primary key (room_id, user_id)
);

create table public.room_messages (
  id uuid primary key default gen_random_uuid(),
  room_id uuid not null references public.rooms (id) on delete cascade,
  author_id uuid not null references auth.users (id) on delete cascade,
  body text not null,
  sent_at timestamptz not null default now()
);

alter table public.rooms enable row level security;
alter table public.room_members enable row level security;
alter table public.room_messages enable row level security;

create policy "members: read own" on public.room_members
  for select to authenticated
  using ((select auth.uid()) = user_id);

create index room_members_user_id_idx on public.room_members (user_id);

alter publication supabase_realtime add table public.room_messages;
