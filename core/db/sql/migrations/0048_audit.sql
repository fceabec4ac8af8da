-- What became of a person's places is only ever added to: merges and partings move it by functions of the owner's.
revoke update, delete on person_audit from onevalet_app;
