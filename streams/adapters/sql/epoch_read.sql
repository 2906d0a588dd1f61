SELECT epoch_of(%(tenant)s) AS epoch
