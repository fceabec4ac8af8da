        select j.agreed from joint_consents j
        where j.tenant_id = p_tenant and j.approval_id = p_approval and j.agreed is not null
