INSERT INTO tenant_epochs AS known (tenant, epoch)
VALUES (%(tenant)s, 1)
ON CONFLICT (tenant) DO UPDATE SET epoch = known.epoch + 1
