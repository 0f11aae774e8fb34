create view public.my_open_orders with (security_invoker = true) as
  select id, placed_on, total_cents
  from public.orders
  where status = 'open';

revoke insert, update, delete on public.my_open_orders from anon, authenticated;

alter view public.revenue_by_day set (security_invoker = true);
revoke all on public.revenue_by_day from anon, authenticated;
