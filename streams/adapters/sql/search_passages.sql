SELECT count(*)::integer AS passages FROM chunks c WHERE c.lexemes @@ %(owner)s::tsquery AND c.level = {level}
