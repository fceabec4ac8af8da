-- Counts what models do besides answering, whether or not a budget is set (core/budgets/background.py).

alter table usage_days drop constraint usage_days_kind_check;
alter table usage_days add constraint usage_days_kind_check
    check (kind in ('model', 'tool', 'agent', 'message', 'turn', 'answer', 'background'));
