-- was 663296d392728e2a799ccf74ca46a0c23ed4c4068782f9cfe56d4b1d63ffb665
-- The table of watched mailboxes is made by the ability of mail.
select;
