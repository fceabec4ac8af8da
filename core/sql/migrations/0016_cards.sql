-- Cards: what was shown of an approval, and its redraws.
select 1;
