SELECT epoch FROM tenant_epochs WHERE tenant = %(tenant)s
