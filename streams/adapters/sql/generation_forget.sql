UPDATE generations SET state = 'dropped' WHERE id = %(id)s
