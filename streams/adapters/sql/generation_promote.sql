UPDATE generations SET state = 'live' WHERE id = %(id)s
